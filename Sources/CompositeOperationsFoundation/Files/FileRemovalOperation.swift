public import CompositeOperations
public import Foundation
internal import SystemSupport

/// An operation that removes a file, or a folder with its contents.
///
/// ```swift
/// import CompositeOperationsFoundation
///
/// let cache = URL(fileURLWithPath: "cache", isDirectory: true)
/// let cleanup = FileRemovalOperation(cache, mayBeMissing: true)
/// ```
///
/// A symbolic link is removed, and never its target, even if the link replaces a folder during the
/// run. A run that is cancelled stops between two entries and leaves the rest.
///
/// The run reports how many entries it has removed. If an entry cannot be removed, the error is a
/// ``FileOperationError``.
public struct FileRemovalOperation: ComposableOperation {
  /// The file or folder to remove.
  public let url: URL
  private let mayBeMissing: Bool
  private let place: BlockingPlace

  /// Creates an operation that removes a file or a folder.
  ///
  /// - Parameters:
  ///   - url: The file or folder to remove.
  ///   - mayBeMissing: Whether it is no error if there is nothing to remove.
  ///   - place: The threads, queue, actor or executor that run the blocking system calls.
  public init(_ url: URL, mayBeMissing: Bool = false, on place: BlockingPlace = .threads) {
    self.url = url
    self.mayBeMissing = mayBeMissing
    self.place = place
  }

  /// Removes the file or folder.
  ///
  /// - Throws: ``FileOperationError``, `CancellationError` if the run is cancelled, and
  ///   ``BlockingThreadsError`` if the system creates no thread.
  public func perform(in context: OperationContext) async throws {
    let errors = FileErrors(.remove)
    let path = try errors.path(of: url)
    try await BlockingOperation(on: place) { context in
      let isMissing = try !TreeRemoval(errors: errors, context: context).remove(path)
      if isMissing, !mayBeMissing {
        throw errors.error(source: path, .system(code: SystemError.noSuchFileOrDirectory.code))
      }
    }.perform(in: context)
  }
}
