/// A circuit breaker: refuses operations after several failures, until a probe has succeeded.
///
/// Share it among the operations that depend on the same service. While the service is down, they
/// fail at once, and do not add to its load:
///
/// ```swift
/// let server = CircuitBreaker(opensAfterFailures: 5, halfOpensAfter: .seconds(30), name: "server")
/// let fetch = FetchIssues(repository: repository).guarded(by: server)
/// ```
///
/// | state | runs | next state |
/// |---|---|---|
/// | closed, at first | begin | open, when the given number of the last runs have failed |
/// | open | fail with a ``CircuitOpenError`` | half-open, when a run comes after the pause |
/// | half-open | the first `probes` of them begin, and the others fail with a ``CircuitOpenError`` | closed, when all probes have succeeded; open, when one has failed |
///
/// A result is a success, and an error is a failure. With `isFailure`, choose the errors that say
/// that the service is down: any other error is a success, because the service has answered. A
/// cancelled run is neither. A cancelled probe gives its place to another run.
///
/// A run counts only for the state in which it began. So runs that began before the circuit breaker
/// opened neither close it nor open it again.
///
/// A guarded run below a probe is part of the probe: it begins, and does not count by itself. Below
/// are the children of the probe, through its context and in composites, the operations that they
/// submit by ``ComposableOperation/submitted(to:priority:isBarrier:)``, and the shared runs that
/// they start. Runs that a body begins by `start()` or `run()` are separate: while the probe runs,
/// they are refused like all others.
///
/// The pause is measured by the clock of the run that opened the circuit breaker, or that made it
/// half-open.
public final class CircuitBreaker: Sendable {
  /// Whether operations may begin.
  public enum State: String, Hashable, Codable, Sendable {
    /// All operations may begin.
    case closed
    /// No operation may begin.
    case open
    /// Some operations may begin, to find out whether they succeed.
    case halfOpen
  }

  /// The name in errors.
  public let name: String
  private let pause: Duration
  private let isFailure: @Sendable (any Error) -> Bool
  private let machine: Lock<StateMachine>

  /// Creates a circuit breaker, which is closed.
  ///
  /// ```swift
  /// // Opens when 10 of the last 20 runs have failed because of the network.
  /// let server = CircuitBreaker(
  ///   opensAfterFailures: 10, ofLast: 20, halfOpensAfter: .seconds(30), name: "server"
  /// ) { error in error is NetworkError }
  /// ```
  ///
  /// - Parameters:
  ///   - failures: The number of failures that open it.
  ///   - runs: Among how many of the last runs these failures are counted; nil for failures in a
  ///     row.
  ///   - pause: How long it is open before probes may begin. If probes have not decided for as
  ///     long, such as because they hang, they no longer count, and others may begin.
  ///   - probes: How many probes may begin. All of them must succeed to close it.
  ///   - name: The name in errors.
  ///   - isFailure: Whether an error counts as a failure. Called outside of all locks, once for
  ///     each run that ends in an error. Not called for runs that do not count: those that were
  ///     cancelled, that are part of a probe, or that began before the last change of the state.
  /// - Precondition: `failures` and `probes` are at least 1, `runs` is at least `failures`, and
  ///   `pause` is positive.
  public init(
    opensAfterFailures failures: Int, ofLast runs: Int? = nil, halfOpensAfter pause: Duration,
    probes: Int = 1, name: String = "circuit breaker",
    countingAsFailure isFailure: @escaping @Sendable (any Error) -> Bool = { _ in true }
  ) {
    precondition(failures >= 1, "`failures` must be at least 1 (was \(failures))")
    precondition(probes >= 1, "`probes` must be at least 1 (was \(probes))")
    precondition(pause > .zero, "`pause` must be positive (was \(pause))")
    let runs = runs ?? failures
    precondition(
      runs >= failures, "`runs` must be at least \(failures), the number of failures (was \(runs))")
    self.name = name
    self.pause = pause
    self.isFailure = isFailure
    machine = Lock(StateMachine(failures: failures, ofLast: runs, probes: probes))
  }

  /// The present state.
  ///
  /// It changes from open to half-open when a run comes after the pause, and not by itself.
  public var state: State { machine.withLock(\.state) }

  // MARK: Runs

  /// Lets a run begin.
  ///
  /// - Throws: A ``CircuitOpenError`` if the run is refused, or `CancellationError` if the task is
  ///   cancelled.
  @usableFromInline func admit(in context: OperationContext) throws -> CircuitAdmission {
    let probe = context.probe(of: self)?.period
    while true {
      // A clock may cancel the task.
      try Task.checkCancellation()
      switch machine.withLock({ $0.asked(partOf: probe) }) {
      case .admitted(let admission): return admission
      case .refused(let refusal):
        // A clock is user code, so it is not read under the lock.
        let left = pause - refusal.stopwatch.elapsed
        if left > .zero {
          throw CircuitOpenError(name: name, state: refusal.state, timeUntilProbe: left)
        }
        let stopwatch = Stopwatch(context.clock)
        perform { $0.pauseEnded(of: refusal.period, at: stopwatch) }
      }
    }
  }

  /// Counts a run that has returned a value.
  ///
  /// - Parameter context: The context from ``OperationContext/admitted(by:_:)``.
  @usableFromInline func ended(_ admission: CircuitAdmission, _ context: OperationContext) {
    context.ended(admission)
    if admission.kind == .partOfProbe { return }
    perform { $0.ended(admission, Task.isCancelled ? .cancellation : .success) }
  }

  /// Counts a run that has thrown an error.
  ///
  /// - Parameter context: The context from ``OperationContext/admitted(by:_:)``.
  @usableFromInline func ended(
    _ admission: CircuitAdmission, in error: any Error, _ context: OperationContext
  ) {
    context.ended(admission)
    if admission.kind == .partOfProbe { return }
    if Task.isCancelled || error.meansCancellation {
      perform { $0.ended(admission, .cancellation) }
    } else if machine.withLock({ $0.counts(admission) }) {
      // The predicate and the clock are user code, so they are not called under the lock.
      let end = isFailure(error) ? StateMachine.End.failure(at: Stopwatch(context.clock)) : .success
      perform { $0.ended(admission, end) }
    }
  }

  private func perform(_ event: (inout StateMachine) -> StateMachine.Change) {
    let change = machine.withLock(event)
    for reader in change.readers { reader.resume() }
  }

  // MARK: Readers

  /// Waits until the state has another number than the given one.
  ///
  /// - Returns: The state and its number; nil if the task is cancelled.
  nonisolated(nonsending) func state(after number: Int?) async -> (state: State, number: Int)? {
    while !Task.isCancelled {
      switch machine.withLock({ $0.askedForState(after: number) }) {
      case .state(let state, let number): return (state, number)
      case .wait(let reader):
        await withTaskCancellationHandler {
          await withCheckedContinuation { waiter in
            machine.withLock { $0.waited(waiter, as: reader, after: number) }?.resume()
          }
        } onCancel: {
          machine.withLock { $0.readers.cancelled(reader) }?.resume()
        }
      }
    }
    return nil
  }
}

/// The permission for a run to begin.
@usableFromInline package struct CircuitAdmission: Sendable {
  @usableFromInline package enum Kind: Sendable {
    /// A run while the circuit breaker is closed.
    case ordinary
    case probe
    /// A run below a probe, which does not count itself.
    case partOfProbe
  }

  @usableFromInline package let kind: Kind
  /// The period between two changes of the state in which the run began.
  package let period: Int
}
