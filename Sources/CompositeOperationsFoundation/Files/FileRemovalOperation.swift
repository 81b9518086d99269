public import CompositeOperations
public import Foundation
internal import SystemFiles

/// Removes a file, or a folder with all that is in it.
///
/// A symbolic link is removed, and not what it points to, also where somebody puts it in the place of a folder
/// meanwhile. A run that is cancelled stops between two entries and leaves the others. It tells how many it has
/// removed, and fails in a ``FileOperationError``.
public struct FileRemovalOperation: ComposableOperation {
  /// What is removed.
  public let url: URL
  private let mayBeMissing: Bool
  private let place: BlockingPlace

  /// - Parameters:
  ///   - url: What is removed.
  ///   - mayBeMissing: Whether it is no error if there is nothing.
  ///   - place: Where the run waits for the disk.
  public init(_ url: URL, mayBeMissing: Bool = false, on place: BlockingPlace = .threads) {
    self.url = url
    self.mayBeMissing = mayBeMissing
    self.place = place
  }

  public func perform(in context: OperationContext) async throws {
    let failure = FileFailure(.remove)
    let path = try failure.path(of: url)
    try await BlockingOperation(on: place) { context in
      let isMissing = try !TreeRemoval(failure: failure, context: context).remove(path)
      if isMissing, !mayBeMissing {
        throw failure.error(source: path, .system(code: SystemError.missing.code))
      }
    }.perform(in: context)
  }
}
