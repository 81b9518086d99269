/// Admits the members of a pool. The pool and the runs of its members share it, so that the pool
/// itself can be deallocated.
final class PoolAdmission: Sendable {
  private let machine: BusyLock<StateMachine>

  init(_ machine: StateMachine) { self.machine = BusyLock(machine) }

  var limit: Int { machine.withLock(\.limit) }
  var runningCount: Int { machine.withLock(\.runningCount) }
  var waitingCount: Int { machine.withLock(\.waitingCount) }

  // MARK: Members

  /// The reason to refuse a member that is submitted now; nil if it would not be refused.
  func refusal(isBarrier: Bool, canWait: Bool) -> PoolRefusalError.Reason? {
    machine.withLock { $0.refusal(isBarrier: isBarrier, canWait: canWait) }
  }

  /// Submits a member whose run has been started.
  ///
  /// - Parameters:
  ///   - canWait: Whether the submitter can wait for room.
  ///   - canceller: Cancels the run.
  /// - Returns: The remaining wait of the submitter.
  func submit(
    _ ticket: Ticket, _ priority: OperationPool.Priority, isBarrier: Bool, canWait: Bool,
    _ canceller: @escaping Canceller
  ) -> Remainder {
    let (remainder, wakening) = machine.withLock {
      $0.submitted(
        ticket, priority: priority.rawValue, isBarrier: isBarrier, canWait: canWait,
        canceller: canceller)
    }
    wakening.perform()
    return remainder
  }

  /// Waits until a member is in the queue or decided. If the task is cancelled before, so is the
  /// member.
  nonisolated(nonsending) func waitForRoom(_ ticket: Ticket) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        machine.withLock { $0.waitedForRoom(ticket, waiter) }?.resume()
      }
    } onCancel: {
      machine.withLock { $0.submitterCancelled(ticket) }.perform()
    }
  }

  /// Whether there is a decision on a member whose run has not waited for it.
  func hasDecided(on ticket: Ticket) -> Bool { machine.withLock { _ in ticket.isDecided } }

  /// Waits for the decision on a member.
  nonisolated(nonsending) func decision(on ticket: Ticket) async -> Decision {
    if ticket.isAdmitted { return .begin }
    return await withCheckedContinuation { waiter in
      machine.withLock { $0.waited(ticket, waiter) }.perform()
    }
  }

  /// Cancels a member.
  func cancel(_ ticket: Ticket) { machine.withLock { $0.cancelled(ticket) }.perform() }

  /// Removes a member whose run has ended.
  func end(_ ticket: Ticket) { machine.withLock { $0.ended(ticket) }.perform() }

  // MARK: All members

  func setWidth(to limit: Int) { machine.withLock { $0.widthSet(to: limit) }.perform() }

  func pause() { machine.withLock { $0.paused() } }

  func resume() { machine.withLock { $0.resumed() }.perform() }

  func close(_ closing: OperationPool.Closing) { machine.withLock { $0.closed(closing) }.perform() }

  func cancelAll(because reason: String?) {
    let (cancellers, wakening) = machine.withLock { $0.allCancelled() }
    wakening.perform()
    for canceller in cancellers { canceller(reason) }
  }

  nonisolated(nonsending) func waitUntilDrained() async {
    await withCheckedContinuation { waiter in
      machine.withLock { $0.waitedUntilDrained(waiter) }?.resume()
    }
  }
}
