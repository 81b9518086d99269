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
/// returns. So a slow observer slows the operation that it observes, and nobody else. Events of
/// one run arrive in order, those of runs that go on side by side arrive side by side.
public protocol OperationObserver: Sendable {
  /// Takes note of an event.
  func observe(_ event: OperationEvent)
}
