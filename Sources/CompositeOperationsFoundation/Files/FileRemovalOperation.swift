public import CompositeOperations
public import Foundation

/// Removes a file, or a folder with all that is in it.
///
/// A symbolic link is removed, and not what it points to. A run that is cancelled stops between two entries and
/// leaves the others. It tells how many it has removed, and fails in a ``FileOperationError``.
public struct FileRemovalOperation: ComposableOperation {
  /// What is removed.
  public let url: URL
  private let mayBeMissing: Bool

  /// - Parameters:
  ///   - url: What is removed.
  ///   - mayBeMissing: Whether it is no error if there is nothing.
  public init(_ url: URL, mayBeMissing: Bool = false) {
    self.url = url
    self.mayBeMissing = mayBeMissing
  }

  public func perform(in context: OperationContext) async throws {
    try await BlockingOperation { try remove($0) }.perform(in: context)
  }

  private func remove(_ context: BlockingContext) throws {
    let failure = FileFailure(.remove)
    let path = url.path
    guard let status = try failure.at(path, { try FileStatus.ifThere(path) }) else {
      if mayBeMissing { return }
      throw failure.error(path, .system(code: SystemError.missing.code))
    }
    try FileTree(root: path).remove(status, failure, context)
  }
}

extension FileTree {
  /// Removes the root, of which the status is that, and all in it.
  ///
  /// - Parameter context: Whose cancellation is heeded, and who is told; nil to go on to the end.
  func remove(_ status: FileStatus, _ failure: FileFailure, _ context: BlockingContext?) throws {
    guard status.kind == .folder else {
      return try failure.at(root) { try FileSystem.removeFile(root) }
    }
    var items: [(path: String, isFolder: Bool)] = [(root, true)]
    try walk(failure, context) { items.append(($0.path, $0.status.kind == .folder)) }
    let total = items.count
    // What is in a folder comes after it.
    while let item = items.popLast() {
      try context?.checkCancellation()
      try failure.at(item.path) {
        try item.isFolder ? FileSystem.removeFolder(item.path) : FileSystem.removeFile(item.path)
      }
      context?.operation.report(total - items.count, of: total, unit: "entries")
    }
  }
}
