public import CompositeOperations
public import Foundation
internal import SystemSupport

/// An operation that copies a file, or a folder with its contents.
///
/// ```swift
/// import CompositeOperationsFoundation
///
/// let draft = URL(fileURLWithPath: "draft.txt")
/// let backup = URL(fileURLWithPath: "backup.txt")
/// let copy = FileCopyOperation(from: draft, to: backup, replacing: true)
/// ```
///
/// The copy has a temporary name, and no other user can read it, until it is complete and renamed.
/// If a run fails or is cancelled before the rename, it leaves no copy. A cancellation during the
/// rename has no effect on the copy.
///
/// The copy has the owner, the permissions and the times of the original. Without root, copies of
/// other users' files belong to you and lose setuid and setgid. Symbolic links are copied as links.
/// Extended attributes and access control lists are not copied, and several hard links to one file
/// become several files.
///
/// The run reports its progress in bytes. If the copy fails, the error is a ``FileOperationError``.
public struct FileCopyOperation: ComposableOperation {
  /// The file or folder to copy.
  public let source: URL
  /// The URL of the copy.
  public let destination: URL
  private let replaces: Bool
  private let place: BlockingPlace

  /// Creates an operation that copies a file or a folder.
  ///
  /// - Parameters:
  ///   - source: The file or folder to copy.
  ///   - destination: The URL of the copy itself, not of the folder that it goes into.
  ///   - replaces: Whether the copy of a file replaces an existing file or symbolic link at the
  ///     destination. Nothing else is ever replaced. If the destination exists and is not replaced,
  ///     the run fails.
  ///   - place: The threads, queue, actor or executor that run the blocking system calls.
  public init(
    from source: URL, to destination: URL, replacing replaces: Bool = false,
    on place: BlockingPlace = .threads
  ) {
    self.source = source
    self.destination = destination
    self.replaces = replaces
    self.place = place
  }

  /// Copies the file or folder.
  ///
  /// - Throws: ``FileOperationError``, `CancellationError` if the run is cancelled, and
  ///   ``BlockingThreadsError`` if the system creates no thread.
  public func perform(in context: OperationContext) async throws {
    let errors = FileErrors(.copy)
    let (source, destination) = (try errors.path(of: source), try errors.path(of: destination))
    try await BlockingOperation(on: place) { context in
      try FileCopy(source, destination, errors, context).run(replacing: replaces)
    }.perform(in: context)
  }
}
