internal import CompositeOperations

/// Wakes the tasks that wait for a change of a store.
///
/// A change is a hint: the waiter looks at the store again. So a waiter registers first, then looks,
/// then waits.
package final class RunChanges: Sendable {
  package enum Topic: Hashable, Sendable {
    /// A run may be claimed.
    case ready
    /// A run has ended, is ready, was cancelled, or has received an event.
    case run(RunID)
    /// A run has received an event.
    case event(RunID, String)
  }

  private struct State: Sendable {
    var waiters: [Topic: [ObjectIdentifier: Waiter]] = [:]
    /// The running runs, with the functions that cancel their tasks.
    var running: [RunID: @Sendable () -> Void] = [:]
    /// Runs that were cancelled after their claim, before their tasks were registered.
    var cancelledEarly: Set<RunID> = []
    var interestChanged: (@Sendable () -> Void)?
  }

  private let state = Lock(State())

  package init() {}

  /// Whether a task waits or a run is running, so that changes of other processes matter.
  package var isOfInterest: Bool {
    state.withLock { !$0.waiters.isEmpty || !$0.running.isEmpty }
  }

  /// Sets the function that is called when ``isOfInterest`` may have become true.
  package func onInterest(_ body: @escaping @Sendable () -> Void) {
    state.withLock { $0.interestChanged = body }
  }

  // MARK: Waiting

  /// Registers a waiter. Remove it with ``remove(_:)``.
  package func register(for topics: [Topic]) -> Waiter {
    let waiter = Waiter(topics)
    let interested = state.withLock { state in
      for topic in topics { state.waiters[topic, default: [:]][ObjectIdentifier(waiter)] = waiter }
      return state.interestChanged
    }
    interested?()
    return waiter
  }

  package func remove(_ waiter: Waiter) {
    state.withLock { state in
      for topic in waiter.topics {
        state.waiters[topic]?[ObjectIdentifier(waiter)] = nil
        if state.waiters[topic]?.isEmpty == true { state.waiters[topic] = nil }
      }
    }
  }

  package func notify(_ topics: [Topic]) {
    let waiters = state.withLock { state in
      topics.flatMap { state.waiters[$0].map { Array($0.values) } ?? [] }
    }
    for waiter in waiters { waiter.notify() }
  }

  /// Wakes everything, because another process has changed something.
  package func notifyAll() {
    let waiters = state.withLock { $0.waiters.values.flatMap(\.values) }
    for waiter in waiters { waiter.notify() }
  }

  // MARK: Running runs

  /// Registers a running run.
  ///
  /// - Parameter cancel: Cancels its task. May be called several times, on any thread.
  package func began(_ run: RunID, cancel: @escaping @Sendable () -> Void) {
    let (interested, isCancelled) = state.withLock { state in
      state.running[run] = cancel
      return (state.interestChanged, state.cancelledEarly.remove(run) != nil)
    }
    interested?()
    if isCancelled { cancel() }
  }

  package func ended(_ run: RunID) {
    state.withLock { state in
      state.running[run] = nil
      state.cancelledEarly.remove(run)
    }
  }

  /// Cancels the task of a run that this process runs, or is about to run.
  package func cancelTask(of run: RunID) {
    let cancel = state.withLock { state -> (@Sendable () -> Void)? in
      if let cancel = state.running[run] { return cancel }
      state.cancelledEarly.insert(run)
      return nil
    }
    cancel?()
  }

  /// Whether a task waits for a run or an event.
  package var isAwaited: Bool {
    state.withLock { $0.waiters.count > 1 || !$0.waiters.isEmpty && $0.waiters[.ready] == nil }
  }

  /// What tasks wait for.
  package var awaited: [Topic] { state.withLock { Array($0.waiters.keys) } }

  package var runningRuns: [RunID] { state.withLock { Array($0.running.keys) } }

  /// A registered waiter.
  package final class Waiter: Sendable {
    fileprivate let topics: [Topic]
    fileprivate let latch = Latch()

    fileprivate init(_ topics: [Topic]) { self.topics = topics }

    package func notify() { latch.open() }

    /// Waits until a change was notified since the registration, or the task is cancelled.
    package func wait() async { await latch.wait() }
  }
}

extension RunChanges {
  /// Waits until a condition gives a value. The condition is checked at once, after every change of
  /// the topics, and after the time that it gives.
  ///
  /// - Parameter check: Returns a value to end the wait, or how long to wait for a change at most.
  /// - Throws: The error of the condition, or `CancellationError`.
  func wait<Value: Sendable>(
    for topics: [Topic], in context: OperationContext,
    until check: () async throws -> WaitDecision<Value>
  ) async throws -> Value {
    while true {
      let waiter = register(for: topics)
      defer { remove(waiter) }
      try Task.checkCancellation()
      switch try await check() {
      case .end(let value): return value
      case .wait(let longest): try await waiter.wait(atMost: longest, in: context)
      }
    }
  }
}

enum WaitDecision<Value: Sendable>: Sendable {
  case end(Value)
  /// At most this long; nil for any time.
  case wait(Duration?)
}

extension RunChanges.Waiter {
  /// Waits until a change was notified, or a time has passed on the clock of the environment.
  ///
  /// - Throws: `CancellationError`, or the error of the clock.
  func wait(atMost longest: Duration?, in context: OperationContext) async throws {
    try await latch.wait(atMost: longest, in: context)
  }
}
