public import CompositeOperations
public import Foundation
internal import SystemFiles

/// Copies a file, or a folder with all that is in it.
///
/// The copy gets its name when it is whole: a run that fails or is cancelled leaves nothing of it; a cancellation
/// that arrives with the change of the name comes too late for that. Until then nobody else can read it.
///
/// It has the owner, the rights and the times of the original. Where only the system's administrator may give files
/// away, copies of the files of somebody else are one's own, and lose the right to be run as him. Symbolic links are
/// copied as links. Extended attributes and access control lists are not copied, and several names of one file
/// become several files.
///
/// The run tells how many bytes it has copied, and fails in a ``FileOperationError``.
public struct FileCopyOperation: ComposableOperation {
  /// What is copied.
  public let source: URL
  /// What the copy is called.
  public let destination: URL
  private let replaces: Bool
  private let place: BlockingPlace

  /// - Parameters:
  ///   - source: What is copied.
  ///   - destination: What the copy is called; not the folder that it comes into.
  ///   - replaces: Whether a file or a symbolic link of that name is replaced by that of a file; what else has the
  ///     name stays, and is an error.
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
    let failure = FileFailure(.copy)
    let (source, destination) = (try failure.path(of: source), try failure.path(of: destination))
    try await BlockingOperation(on: place) { context in
      try FileCopy(source, destination, failure, context).run(replacing: replaces)
    }.perform(in: context)
  }
}
