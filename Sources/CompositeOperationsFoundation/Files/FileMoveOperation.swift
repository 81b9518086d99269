public import CompositeOperations
public import Foundation
internal import SystemSupport

/// An operation that moves or renames a file or a folder.
///
/// ```swift
/// import CompositeOperationsFoundation
///
/// let draft = URL(fileURLWithPath: "draft.txt")
/// let letter = URL(fileURLWithPath: "letter.txt")
/// let move = FileMoveOperation(from: draft, to: letter)
/// ```
///
/// On one disk, a move is one step. To another disk, the original is copied, with the losses that
/// ``FileCopyOperation`` describes, and then removed. A run that fails or is cancelled before the
/// copy is complete leaves everything as it was. A later cancellation does not stop the run: the
/// files that were copied are removed. Files that were changed or added meanwhile stay, which is an
/// error.
///
/// If the move fails, the error is a ``FileOperationError``.
public struct FileMoveOperation: ComposableOperation {
  /// The file or folder to move.
  public let source: URL
  /// The new URL.
  public let destination: URL
  private let replaces: Bool
  private let place: BlockingPlace

  /// Creates an operation that moves or renames a file or a folder.
  ///
  /// - Parameters:
  ///   - source: The file or folder to move.
  ///   - destination: The new URL of the file or folder itself, not of the folder that it goes
  ///     into.
  ///   - replaces: Whether a file replaces an existing file or symbolic link at the destination.
  ///     Nothing else is ever replaced. If the destination exists and is not replaced, the run
  ///     fails.
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

  /// Moves the file or folder.
  ///
  /// - Throws: ``FileOperationError``, `CancellationError` if the run is cancelled, and
  ///   ``BlockingThreadsError`` if the system creates no thread.
  public func perform(in context: OperationContext) async throws {
    let errors = FileErrors(.move)
    let (source, destination) = (try errors.path(of: source), try errors.path(of: destination))
    let move = FileMove(
      source: source, destination: destination, replaces: replaces, errors: errors)
    try await BlockingOperation(on: place) { try move.run($0) }.perform(in: context)
  }
}
