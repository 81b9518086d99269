/// An operation that brings observers of its own.
///
/// They join those who observe its run anyway: it is seen as one run, not as a run in a run. It is a
/// modifier: it has a ``ComposableOperation/modifiedOperation``.
protocol ObserverBearing: ComposableOperation {
  var observers: [any OperationObserver] { get }
}

/// The observers that an operation brings by its modifiers.
struct OwnObservers {
  private(set) var observers: [any OperationObserver] = []
  /// How many modifiers bring them.
  private(set) var bearers = 0

  // Asked of every run that is started or observed. The cast to a protocol without arguments is
  // quick; one to a protocol with arguments takes microseconds.
  init(of operation: some ComposableOperation) {
    guard let modified = operation.modifiedOperation, !(operation is any SeparateRun) else {
      return
    }
    add(operation)
    var next: (any ComposableOperation)? = modified
    while let current = next {
      next = current is any SeparateRun ? nil : current.modifiedOperation
      if next != nil { add(current) }
    }
  }

  private mutating func add(_ operation: any ComposableOperation) {
    guard let bearer = operation as? any ObserverBearing, !bearer.observers.isEmpty else { return }
    observers += bearer.observers
    bearers += 1
  }
}
