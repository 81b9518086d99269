/// A type that receives the events of runs.
///
/// ```swift
/// struct Printer: OperationObserver {
///   func observe(_ event: OperationEvent) { print(event) }
/// }
///
/// let outcome = await fetch.observed(by: Printer()).run()
/// ```
///
/// A run calls its observers synchronously, and continues when ``observe(_:)`` returns. So a slow
/// observer slows down the run that it observes, and no other.
///
/// A cancellation is the exception: it is reported while the run continues.
/// ``OperationRun/cancel()`` notifies observers on the calling thread after it has cancelled the
/// tasks. Other cancellations can be reported while Swift holds a lock of the cancelled task: those
/// by `Task.cancel()`, a task group, a failed sibling, or a timeout whose clock is not a
/// `ContinuousClock`. Until ``observe(_:)`` returns, every thread that resumes or cancels that task
/// blocks. So return at once from ``OperationEvent/Kind/cancellationRequested(reason:)``, and do
/// not wait there. Send the event to a queue or a stream instead.
///
/// Concurrent runs report concurrently, so an observer must protect its state. ``OperationEvent``
/// describes the order of the events.
public protocol OperationObserver: Sendable {
  /// Receives an event.
  func observe(_ event: OperationEvent)

  /// The lowest level of the log messages that the observer receives; nil for no messages.
  ///
  /// ``OperationLogLevel/trace`` by default, which includes all messages. A message that no
  /// observer receives is never created.
  var leastLogLevel: OperationLogLevel? { get }
}

extension OperationObserver {
  /// ``OperationLogLevel/trace``: all messages.
  public var leastLogLevel: OperationLogLevel? { .trace }
}
