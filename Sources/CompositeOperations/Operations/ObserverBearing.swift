/// An operation that brings observers of its own.
///
/// They join those who observe its run anyway: it is seen as one run, not as a run in a run.
protocol ObserverBearing: ComposableOperation {
  /// The operation that they observe. It gives what this one gives.
  var observed: any ComposableOperation { get }
  var observers: [any OperationObserver] { get }
}

extension ComposableOperation {
  /// The operation without the observers that it brings, and these; nil if it brings none.
  // Asked of every run that is started or observed. The cast to a protocol without arguments is
  // quick, the other one takes microseconds.
  var observation: Observation<Success>? {
    guard let bearer = self as? any ObserverBearing,
      let observed = bearer.observed as? any ComposableOperation<Success>
    else { return nil }
    return Observation(operation: observed, observers: bearer.observers)
  }
}

struct Observation<Success: Sendable>: Sendable {
  let operation: any ComposableOperation<Success>
  let observers: [any OperationObserver]
}
