public import CompositeOperations
public import Foundation
internal import SystemSupport

/// An operation that lists the contents of a folder.
///
/// ```swift
/// import CompositeOperationsFoundation
///
/// let photos = URL(fileURLWithPath: "photos", isDirectory: true)
/// let files = FolderListingOperation(photos, isRecursive: true).map { entries in
///   entries.filter { $0.kind == .file }
/// }
/// ```
///
/// The entries are sorted by name, with a folder before its contents. Symbolic links in the folder
/// are entries and are not followed. Entries that vanish during the run are omitted. A name that is
/// not UTF-8 is an error, because no URL can represent it.
///
/// The run reports how many entries it has found. If the folder cannot be listed, the error is a
/// ``FileOperationError``.
public struct FolderListingOperation: ComposableOperation {
  /// The folder to list.
  public let url: URL
  private let isRecursive: Bool
  private let place: BlockingPlace

  /// Creates an operation that lists a folder.
  ///
  /// - Parameters:
  ///   - url: The folder to list.
  ///   - isRecursive: Whether the contents of its subfolders are listed too.
  ///   - place: The threads, queue, actor or executor that run the blocking system calls.
  public init(_ url: URL, isRecursive: Bool = false, on place: BlockingPlace = .threads) {
    self.url = url
    self.isRecursive = isRecursive
    self.place = place
  }

  /// Lists the folder and returns its entries.
  ///
  /// - Throws: ``FileOperationError``, `CancellationError` if the run is cancelled, and
  ///   ``BlockingThreadsError`` if the system creates no thread.
  public func perform(in context: OperationContext) async throws -> [FolderEntry] {
    let path = try FileErrors(.list).path(of: url)
    return try await BlockingOperation(on: place) { try list(path, $0) }.perform(in: context)
  }

  private func list(_ path: String, _ context: BlockingContext) throws -> [FolderEntry] {
    let errors = FileErrors(.list)
    let root = try errors.mapping(source: path) { try OpenFolder(path, followingLink: true) }
    let walk = try TreeWalk(root, at: path, errors, context)
    var entries: [FolderEntry] = []
    while let step = try walk.next() {
      switch step {
      case .found(let entry):
        let (path, status) = (walk.path(of: entry.name), entry.status)
        if entry.name.exactText == nil { throw errors.error(source: path, .notUTF8) }
        entries.append(
          FolderEntry(
            url: URL(fileURLWithPath: path, isDirectory: status.kind == .folder),
            kind: FolderEntry.Kind(status.kind), size: status.size))
        context.operationContext.report(entries.count, unit: "entries")
        if isRecursive, status.kind == .folder { _ = try walk.enter(entry) }
      case .left(_, let folder): folder.close()
      }
    }
    return entries
  }
}

/// An entry of a folder.
public struct FolderEntry: Hashable, Sendable {
  /// The kind of an entry.
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

  /// The URL of the entry.
  public let url: URL
  /// The kind of the entry.
  public let kind: Kind
  /// The size in bytes, for a file.
  public let size: Int
}
