public import CompositeOperations
public import Foundation

/// A composable operation that runs a `Foundation.Operation`.
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
/// A `Foundation.Operation` runs once, so the closure makes a new one for every run. What that one depends on
/// is waited for, and its completion block has returned before the run goes on. One that it is given only when it
/// has begun takes the place of the other, as always, and is not waited for.
///
/// A run that is cancelled cancels it, and waits for its end if it has begun; one that waits in a queue is
/// left to the queue, which will not run it unless it begins it in that very moment, and lets go on what depends
/// on it. If it was cancelled, by whomever, the run ends as cancelled.
public struct FoundationOperation<Success: Sendable>: ComposableOperation {
  private let name: String
  private let makeRun: @Sendable () -> LegacyRun<Success>

  /// - Parameters:
  ///   - queue: Where it runs; nil for a queue of this module, which runs as many at once as Foundation finds
  ///     fit.
  ///   - make: Makes one that nobody has started or put into a queue.
  ///   - result: What the run comes to, or throws, asked when it has finished and was not cancelled.
  public init<Legacy: Foundation.Operation>(
    in queue: OperationQueue? = nil, _ make: @escaping @Sendable () -> Legacy,
    result: @escaping @Sendable (Legacy) throws -> Success
  ) {
    name = "\(Legacy.self)"
    makeRun = {
      let legacy = make()
      return LegacyRun(of: legacy, in: queue) { try result(legacy) }
    }
  }

  /// One without a result.
  ///
  /// - Parameters:
  ///   - queue: Where it runs; nil for a queue of this module.
  ///   - make: Makes one that nobody has started or put into a queue.
  public init(
    in queue: OperationQueue? = nil, _ make: @escaping @Sendable () -> some Foundation.Operation
  ) where Success == Void {
    self.init(in: queue, make) { _ in }
  }

  /// The name of the subclass.
  public var operationName: String { name }

  public func perform(in context: OperationContext) async throws -> Success {
    try await makeRun().success()
  }
}

/// The error of a ``FoundationOperation`` whose closure gave an operation that had begun before.
public struct FoundationOperationError: Error, CustomStringConvertible {
  /// Which operation it is, as it describes itself.
  public let operation: String

  public var description: String {
    "\(operation) was already started, and a Foundation.Operation runs only once. "
      + "Create a new one in the closure of the FoundationOperation, and do not start it."
  }
}
