/// Sees what happens to the runs that it observes.
///
/// ```swift
/// struct Printer: OperationObserver {
///   func observe(_ event: OperationEvent) { print(event) }
/// }
///
/// let outcome = await fetch.observed(by: Printer()).run()
/// ```
///
/// Events arrive while the run is where the event says it is: the run goes on when ``observe(_:)``
/// returns. So a slow observer slows the operation that it observes, and no other.
///
/// A cancellation is the exception: it is reported while the run continues.
/// ``OperationRun/cancel()`` notifies observers on the calling thread after it has cancelled the
/// tasks. Every other cancellation, by `Task.cancel()`, a task group, a timeout or a failed sibling,
/// is reported by Swift under a lock of the cancelled task. Until ``observe(_:)`` returns, every
/// thread that resumes or cancels that task blocks. So return at once from
/// ``OperationEvent/Kind/cancellationRequested(reason:)``, and do not wait there. Send the event to a
/// queue or a stream instead.
///
/// Concurrent runs report concurrently: an observer has to guard its state, as ``OperationEvent``
/// says in more detail.
public protocol OperationObserver: Sendable {
  /// Takes note of an event.
  func observe(_ event: OperationEvent)

  /// The least level of what bodies log that the observer wants to see, nil for nothing. Lines that no
  /// observer wants are never made. All of them by default.
  var leastLogLevel: OperationLogLevel? { get }
}

extension OperationObserver {
  public var leastLogLevel: OperationLogLevel? { .trace }
}
