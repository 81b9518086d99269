internal import Synchronization

/// A run that a half-open circuit breaker has admitted to find out whether it succeeds.
///
/// The environment of the runs below it refers to it. Those that its circuit breaker guards are part
/// of it: otherwise it would wait for them, and they would be refused because of it.
final class CircuitProbe: Sendable {
  let breaker: CircuitBreaker
  /// The period between two changes of the state in which it began.
  let period: Int
  private let isOver = Atomic(false)

  init(of breaker: CircuitBreaker, in period: Int) {
    self.breaker = breaker
    self.period = period
  }

  /// Whether the run has ended. An operation that runs through a context that outlived it is no
  /// part of it.
  var hasEnded: Bool { isOver.load(ordering: .acquiring) }

  func end() { isOver.store(true, ordering: .releasing) }
}

extension OperationContext {
  /// The probes that the operation is part of, the innermost one last.
  var probes: [CircuitProbe] { (scope?.environment.probes ?? []).filter { !$0.hasEnded } }

  /// The innermost probe of a circuit breaker that the operation is part of; nil if there is none.
  func probe(of breaker: CircuitBreaker) -> CircuitProbe? {
    scope?.environment.probes.last { $0.breaker === breaker && !$0.hasEnded }
  }

  /// Returns the context for a run that a circuit breaker has admitted. ``ended(_:)`` must follow.
  @usableFromInline func admitted(
    by breaker: CircuitBreaker, _ admission: CircuitAdmission
  ) -> OperationContext {
    guard admission.kind == .probe else { return self }
    var environment = surroundings
    environment.probes = probes + [CircuitProbe(of: breaker, in: admission.period)]
    return OperationContext(scope: OperationScope(within: scope, in: environment), depth: depth)
  }

  /// Ends the part of a run that a circuit breaker has admitted.
  func ended(_ admission: CircuitAdmission) {
    guard admission.kind == .probe else { return }
    _ = scope?.markEnded()
    scope?.environment.probes.last?.end()
  }
}
