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
/// returns. So a slow observer slows the operation that it observes, and nobody else. Things that
/// happen side by side are told side by side: an observer has to guard what it keeps, as
/// ``OperationEvent`` says in more detail.
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
