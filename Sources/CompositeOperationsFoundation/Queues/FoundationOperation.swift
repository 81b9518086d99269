public import CompositeOperations
public import Foundation

/// An operation that runs a `Foundation.Operation`.
///
/// ```swift
/// import CompositeOperationsFoundation
///
/// struct NoFileError: Error {}
/// final class LegacyDownload: Operation, @unchecked Sendable {
///   var file: URL?
/// }
///
/// let download = FoundationOperation {
///   LegacyDownload()
/// } result: { download in
///   guard let file = download.file else { throw NoFileError() }
///   return file
/// }
/// let outcome = await download.retrying(attempts: 3).run()
/// ```
///
/// A `Foundation.Operation` runs only once, so the closure creates a new one for every run. The run
/// waits for its dependencies, and ends after it has finished and its completion block has
/// returned. A completion block that is set after it has begun replaces the original one, as
/// always, and is not waited for.
///
/// Cancelling the run cancels the `Foundation.Operation`. If that has begun, the run waits for its
/// end. If it still waits in its queue, the run ends at once. The queue then finishes the operation
/// without running it, unless it starts it at that very instant, and its dependents begin
/// afterwards. If the operation was cancelled, by the run or by other code, the run ends as
/// cancelled.
public struct FoundationOperation<Success: Sendable>: ComposableOperation {
  private let name: String
  private let makeRun: @Sendable () -> FoundationOperationRun<Success>

  /// Creates an operation that runs a `Foundation.Operation` and reads its result.
  ///
  /// - Parameters:
  ///   - queue: The queue that runs it; nil for a queue of this module, which has Foundation's
  ///     default limit of concurrent operations.
  ///   - make: Creates the `Foundation.Operation`. It must not have been started or added to a
  ///     queue.
  ///   - result: Returns the result of the run, or throws its error. It is called after the
  ///     operation has finished, unless the operation was cancelled.
  public init<Legacy: Foundation.Operation>(
    in queue: OperationQueue? = nil, _ make: @escaping @Sendable () -> Legacy,
    result: @escaping @Sendable (Legacy) throws -> Success
  ) {
    name = "\(Legacy.self)"
    makeRun = {
      let legacy = make()
      return FoundationOperationRun(of: legacy, in: queue) { try result(legacy) }
    }
  }

  /// Creates an operation that runs a `Foundation.Operation` without a result.
  ///
  /// - Parameters:
  ///   - queue: The queue that runs it; nil for a queue of this module.
  ///   - make: Creates the `Foundation.Operation`. It must not have been started or added to a
  ///     queue.
  public init(
    in queue: OperationQueue? = nil, _ make: @escaping @Sendable () -> some Foundation.Operation
  ) where Success == Void {
    self.init(in: queue, make) { _ in }
  }

  /// The name of the `Foundation.Operation` subclass.
  public var operationName: String { name }

  /// Runs a `Foundation.Operation` and returns its result.
  ///
  /// - Throws: ``FoundationOperationError`` if it had begun before, `CancellationError` if it was
  ///   cancelled, and the errors of the `result` closure.
  public func perform(in context: OperationContext) async throws -> Success {
    try await makeRun().success()
  }
}

/// The error of a ``FoundationOperation`` whose closure returned an operation that had begun
/// before.
public struct FoundationOperationError: Error, CustomStringConvertible {
  /// The description of the `Foundation.Operation`.
  public let operation: String

  /// The operation, the problem, and what to do.
  public var description: String {
    "\(operation) was already started, and a Foundation.Operation runs only once. "
      + "Create a new one in the closure of the FoundationOperation, and do not start it."
  }
}

extension FoundationOperationError: LocalizedError {
  public var errorDescription: String? { "\(self)" }
}
