public import CompositeOperations
public import Foundation

/// Moves a file or a folder, or gives it another name.
///
/// On one disk that is one step. To another disk it is copied and then removed; a run that fails or is cancelled
/// before the copy is whole leaves everything as it was. It fails in a ``FileOperationError``.
public struct FileMoveOperation: ComposableOperation {
  /// What is moved.
  public let source: URL
  /// What it is called then.
  public let destination: URL
  private let replaces: Bool

  /// - Parameters:
  ///   - source: What is moved.
  ///   - destination: What it is called then; not the folder that it comes into.
  ///   - replaces: Whether a file of that name is replaced; else, and where it is a folder, that is an error.
  public init(from source: URL, to destination: URL, replacing replaces: Bool = false) {
    self.source = source
    self.destination = destination
    self.replaces = replaces
  }

  public func perform(in context: OperationContext) async throws {
    try await BlockingOperation { try move($0) }.perform(in: context)
  }

  private func move(_ context: BlockingContext) throws {
    let failure = FileFailure(.move)
    let status = try failure.at(source.path) { try FileStatus(of: source.path) }
    let isOnOtherDisk = try failure.at(destination.path) {
      if let there = try FileStatus.ifThere(destination.path) {
        if !replaces || there.kind == .folder || status.kind == .folder { throw SystemError.exists }
      }
      do throws(SystemError) {
        try FileSystem.rename(source.path, to: destination.path)
        return false
      } catch {
        if !error.isOnAnotherDisk { throw error }
        return true
      }
    }
    guard isOnOtherDisk else { return }
    try FileCopy(source.path, destination.path, failure).run(context, replaces: replaces)
    try FileTree(root: source.path).remove(status, failure, context)
  }
}
