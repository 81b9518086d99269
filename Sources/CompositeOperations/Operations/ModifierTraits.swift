/// An operation that brings observers of its own.
///
/// They join those who observe its run anyway: it is seen as one run, not as a run in a run. It is a
/// modifier: it has a ``ComposableOperation/modifiedOperation``.
protocol ObserverBearing: ComposableOperation {
  /// Asked once a run.
  var observers: [any OperationObserver] { get }
}

/// An operation that says what it weighs for the progress of its parent. It is a modifier.
protocol WeightBearing: ComposableOperation {
  var weight: Double { get }
}

/// A modifier that changes the name of the operation.
protocol NameBearing: ComposableOperation {}

/// What an operation brings by its modifiers, down to the one that makes its run.
struct ModifierTraits {
  private(set) var observers: [any OperationObserver] = []
  /// How many modifiers bring observers.
  private(set) var bearers = 0
  private(set) var share = ProgressShare()

  // Asked of every run that is started or observed. The cast to a protocol without arguments is
  // quick; one to a protocol with arguments takes microseconds.
  init(of operation: some ComposableOperation) {
    if operation.modifiedOperation == nil { return }
    share.weight = Float(min(operation.weight, 1e30))
    var next: (any ComposableOperation)? = operation
    var isRenamed = false
    while let current = next {
      if let separate = current as? any SeparateRun {
        share.isThatOfChild = !separate.isRepeating
        share.isOfModifier = separate.runsChild && !isRenamed
        return
      }
      if current is any NameBearing { isRenamed = true }
      next = current.modifiedOperation
      if next != nil { add(current) }
    }
  }

  private mutating func add(_ operation: any ComposableOperation) {
    guard let bearer = operation as? any ObserverBearing else { return }
    let own = bearer.observers
    if own.isEmpty { return }
    observers += own
    bearers += 1
  }
}

extension ComposableOperation {
  /// The weight for the progress of the parent, set by the outermost `weighing` among the first 64 modifiers.
  var weight: Double {
    // Asked of every child of an observed list: most are no modifiers, and a cast takes its time.
    guard modifiedOperation != nil else { return 1 }
    var next: (any ComposableOperation)? = self
    // Bounded: every level of a deep composition searches the levels below it.
    for _ in 0..<ModifiedName.reach {
      guard let current = next else { break }
      next = current.modifiedOperation
      if next != nil, let weighed = current as? any WeightBearing { return weighed.weight }
    }
    return 1
  }
}
