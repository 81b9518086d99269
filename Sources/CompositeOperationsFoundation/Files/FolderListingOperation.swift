public import CompositeOperations
public import Foundation

/// Lists what is in a folder.
///
/// ```swift
/// let files = FolderListingOperation(folder, isRecursive: true).map { $0.filter { $0.kind == .file } }
/// ```
///
/// The entries come in the order of their paths, a folder before what is in it. Symbolic links are entries and
/// are not followed. The run tells how many it has found, and fails in a ``FileOperationError``.
public struct FolderListingOperation: ComposableOperation {
  /// The folder.
  public let url: URL
  private let isRecursive: Bool

  /// - Parameters:
  ///   - url: The folder.
  ///   - isRecursive: Whether what is in its folders is listed, too.
  public init(_ url: URL, isRecursive: Bool = false) {
    self.url = url
    self.isRecursive = isRecursive
  }

  public func perform(in context: OperationContext) async throws -> [FolderEntry] {
    try await BlockingOperation { context in
      var entries: [FolderEntry] = []
      let tree = FileTree(root: url.path, isRecursive: isRecursive)
      try tree.walk(FileFailure(.list), context) { item in
        entries.append(
          FolderEntry(
            url: URL(fileURLWithPath: item.path, isDirectory: item.status.kind == .folder),
            kind: FolderEntry.Kind(item.status.kind), size: item.status.size))
        context.operation.report(entries.count, unit: "entries")
      }
      return entries
    }.perform(in: context)
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

/// A folder and what is in it.
struct FileTree: Sendable {
  struct Item: Sendable {
    let path: String
    /// Where it is below the root.
    let names: [String]
    let status: FileStatus
  }

  let root: String
  var isRecursive = true

  /// Gives everything in it, a folder before what is in it.
  ///
  /// - Parameter context: Whose cancellation is heeded; nil to go on to the end.
  func walk(
    _ failure: FileFailure, _ context: BlockingContext?, _ body: (Item) throws -> Void
  ) throws {
    // With a list of what is still to come, the next one last: folders may be deeper than the stack.
    var next: [String]? = []
    var pending: [Item] = []
    while let names = next {
      next = nil
      let folder = ([root] + names).joined(separator: "/")
      let items = try failure.at(folder) { try FileSystem.names(in: folder) }.map { name in
        let path = "\(folder)/\(name)"
        return try failure.at(path) {
          Item(path: path, names: names + [name], status: try FileStatus(of: path))
        }
      }
      pending += items.reversed()
      while let item = pending.popLast() {
        try context?.checkCancellation()
        try body(item)
        if isRecursive, item.status.kind == .folder {
          next = item.names
          break
        }
      }
    }
  }
}
