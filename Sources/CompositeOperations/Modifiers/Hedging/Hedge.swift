internal import ThreadSupport

/// The attempts of one run of a ``HedgedOperation``: how they ended, and when the next one begins.
final class Hedge<Success: Sendable>: Sendable {
  /// Cancels the other attempts.
  struct Over: Error {}

  private let machine: Lock<StateMachine>

  /// - Parameter attempts: The maximum number of attempts.
  init(attempts: Int) { machine = Lock(StateMachine(attempts: attempts)) }

  // MARK: Attempts

  /// Whether the attempts that run must be cancelled.
  var isOver: Bool { machine.withLock { $0.isOver } }

  var hasAttemptLeft: Bool { machine.withLock { $0.hasAttemptLeft } }

  /// The number of the next attempt, from 1.
  var nextAttempt: Int { machine.withLock { $0.nextAttempt } }

  /// - Returns: The number of the attempt, from 1; nil if no other one may begin.
  func beginAttempt() -> Int? { machine.withLock { $0.began() } }

  /// - Parameter isFinal: Whether an error ends the run.
  /// - Returns: Whether the other attempts must be cancelled.
  func ended(_ attempt: Int, in completion: Completion<Success>, isFinal: Bool) -> Bool {
    let (isOver, waiter) = machine.withLock {
      $0.ended(attempt, in: completion, isFinal: isFinal)
    }
    waiter?.resume()
    return isOver
  }

  /// Keeps further attempts from beginning, because the run is cancelled.
  func stop() { machine.withLock { $0.stopped() }?.resume() }

  // MARK: Waits

  /// Waits until the time has passed, an attempt fails or the run is over.
  nonisolated(nonsending) func wait(
    for time: Duration, by clock: (any Clock<Duration>)?
  ) async -> StateMachine.WaitResult {
    let wait = machine.withLock { $0.waitBegan(hasTimePassed: time <= .zero) }
    if let clock {
      await waitForResult(of: wait, time, by: clock)
    } else {
      let deadline = HedgeDeadline { self.timePassed(in: wait) }
      let due = EventTime.now.advanced(byNanoseconds: time.wholeNanoseconds)
      if time > .zero { DeadlineTimer.shared.add(deadline, at: due) }
      await waitForResult()
      if time > .zero { DeadlineTimer.shared.remove(deadline) }
    }
    return machine.withLock { $0.waitEnded() }
  }

  private nonisolated(nonsending) func waitForResult(
    of wait: Int, _ time: Duration, by clock: any Clock<Duration>
  ) async {
    await withTaskGroup { group in
      if time > .zero {
        group.addImmediateTask {
          do {
            try await clock.wait(for: time)
            self.timePassed(in: wait)
          } catch {
            if !Task.isCancelled { self.machine.withLock { $0.clockFailed(error) }?.resume() }
          }
        }
      }
      await waitForResult()
      group.cancelAll()
    }
  }

  private nonisolated(nonsending) func waitForResult() async {
    await TaskWaiter.wait { waiter in machine.withLock { $0.waited(waiter) }?.resume() }
  }

  private func timePassed(in wait: Int) { machine.withLock { $0.timePassed(in: wait) }?.resume() }

  /// The end of a wait on the process's timer.
  private final class HedgeDeadline: Deadline, @unchecked Sendable {
    private let action: @Sendable () -> Void

    init(_ action: @escaping @Sendable () -> Void) { self.action = action }

    override func reached() { action() }

    override var holdsUserValues: Bool { true }
  }

  // MARK: The end

  /// The result of the run, after all attempts have ended. Discards the values that it does not
  /// return. Call it once.
  ///
  /// - Parameter isCancelled: Whether the run was cancelled.
  func held(isCancelled: Bool) throws -> HeldResult<Success> {
    let (completions, end) = machine.withLock { ($0.completions, $0.end) }
    if case .result(let winner) = end {
      for (index, loser) in completions.enumerated() where index != winner { loser.discard() }
      return try completions[winner].held()
    }
    // Without another attempt, a cancelled one passes on its value too.
    if case .cancellation = end, completions.count == 1, completions[0].error == nil {
      return try completions[0].held()
    }
    var errors: [any Error] = []
    for completion in completions {
      if let error = completion.error {
        errors.append(error)
      } else if case .error(let error) = completion.lateOutcome {
        errors.append(error)
      } else {
        completion.discard()
      }
    }
    switch end {
    case .result, .failure: break
    case .clockFailure(let error): errors.append(error)
    case .cancellation: if errors.isEmpty { throw CancellationError() }
    }
    throw RetryError(
      errors: errors, representsCancellation: isCancelled || end.representsCancellation)
  }
}
