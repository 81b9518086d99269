public import CompositeOperations
public import Foundation
internal import SystemFiles

/// Lists what is in a folder.
///
/// ```swift
/// import CompositeOperationsFoundation
///
/// let photos = URL(fileURLWithPath: "photos", isDirectory: true)
/// let files = FolderListingOperation(photos, isRecursive: true).map { $0.filter { $0.kind == .file } }
/// ```
///
/// The entries come in the order of their names, a folder before what is in it. Symbolic links are entries and are
/// not followed. What vanishes meanwhile is left out; what has a name that is not UTF-8 is an error, because no URL
/// can name it. The run tells how many it has found, and fails in a ``FileOperationError``.
public struct FolderListingOperation: ComposableOperation {
  /// The folder.
  public let url: URL
  private let isRecursive: Bool
  private let place: BlockingPlace

  /// - Parameters:
  ///   - url: The folder.
  ///   - isRecursive: Whether what is in its folders is listed, too.
  ///   - place: Where the run waits for the disk.
  public init(_ url: URL, isRecursive: Bool = false, on place: BlockingPlace = .threads) {
    self.url = url
    self.isRecursive = isRecursive
    self.place = place
  }

  public func perform(in context: OperationContext) async throws -> [FolderEntry] {
    let path = try FileFailure(.list).path(of: url)
    return try await BlockingOperation(on: place) { try list(path, $0) }.perform(in: context)
  }

  private func list(_ path: String, _ context: BlockingContext) throws -> [FolderEntry] {
    let failure = FileFailure(.list)
    let root = try failure.at(source: path) { try OpenFolder(path, followingLink: true) }
    let walk = try TreeWalk(root, at: path, failure, context)
    var entries: [FolderEntry] = []
    while let step = try walk.next() {
      switch step {
      case .found(let entry):
        let (path, status) = (walk.path(of: entry.name), entry.status)
        if entry.name.exactText == nil { throw failure.error(source: path, .notUTF8) }
        entries.append(
          FolderEntry(
            url: URL(fileURLWithPath: path, isDirectory: status.kind == .folder),
            kind: FolderEntry.Kind(status.kind), size: status.size))
        context.operation.report(entries.count, unit: "entries")
        if isRecursive, status.kind == .folder { _ = try walk.enter(entry) }
      case .left(_, let folder): folder.close()
      }
    }
    return entries
  }
}

/// What a folder has in it.
public struct FolderEntry: Hashable, Sendable {
  /// What it is.
  public enum Kind: Sendable {
    case file, folder, symbolicLink
    /// A device, a pipe or a socket.
    case other

    init(_ kind: FileStatus.Kind) {
      switch kind {
      case .file: self = .file
      case .folder: self = .folder
      case .link: self = .symbolicLink
      case .other: self = .other
      }
    }
  }

  public let url: URL
  public let kind: Kind
  /// In bytes; of a file.
  public let size: Int
}
