public import CompositeOperations
public import Foundation
internal import SystemFiles

/// Moves a file or a folder, or gives it another name.
///
/// On one disk that is one step. To another disk it is copied, with what ``FileCopyOperation`` keeps and loses, and
/// then removed; a run that fails or is cancelled before the copy is whole leaves everything as it was. A
/// cancellation that comes later does not stop it: what was copied is removed. What somebody has changed or added
/// meanwhile is not, and that is an error. It fails in a ``FileOperationError``.
public struct FileMoveOperation: ComposableOperation {
  /// What is moved.
  public let source: URL
  /// What it is called then.
  public let destination: URL
  private let replaces: Bool
  private let place: BlockingPlace

  /// - Parameters:
  ///   - source: What is moved.
  ///   - destination: What it is called then; not the folder that it comes into.
  ///   - replaces: Whether a file or a symbolic link of that name is replaced by a file; what else has the name
  ///     stays, and is an error.
  ///   - place: Where the run waits for the disk.
  public init(
    from source: URL, to destination: URL, replacing replaces: Bool = false,
    on place: BlockingPlace = .threads
  ) {
    self.source = source
    self.destination = destination
    self.replaces = replaces
    self.place = place
  }

  public func perform(in context: OperationContext) async throws {
    let failure = FileFailure(.move)
    let (source, destination) = (try failure.path(of: source), try failure.path(of: destination))
    let move = FileMove(
      source: source, destination: destination, replaces: replaces, failure: failure)
    try await BlockingOperation(on: place) { try move.run($0) }.perform(in: context)
  }
}
