/// Admits the members of a pool. The pool and the runs of its members share it, so that the pool itself can
/// be dropped.
final class PoolAdmission: Sendable {
  private let machine: BusyLock<StateMachine>

  init(_ machine: StateMachine) { self.machine = BusyLock(machine) }

  var limit: Int { machine.withLock(\.limit) }
  var runningCount: Int { machine.withLock(\.runningCount) }
  var waitingCount: Int { machine.withLock(\.waitingCount) }

  // MARK: Members

  /// Why a member that comes now would be refused; nil if it would not be.
  func refusal(isBarrier: Bool, canWait: Bool) -> PoolRefusalError.Reason? {
    machine.withLock { $0.refusal(isBarrier: isBarrier, canWait: canWait) }
  }

  /// Submits a member whose run has been started.
  ///
  /// - Parameters:
  ///   - canWait: Whether whoever submits it can wait for room.
  ///   - canceller: Cancels the run.
  /// - Returns: What whoever submits it has to wait for.
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

  /// Waits until a member is in the queue, or decided. If the task is cancelled before, the member is.
  nonisolated(nonsending) func waitForRoom(_ ticket: Ticket) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        machine.withLock { $0.waitedForRoom(ticket, waiter) }?.resume()
      }
    } onCancel: {
      machine.withLock { $0.submitterCancelled(ticket) }.perform()
    }
  }

  /// Whether it has been decided what becomes of a member, whose run has not asked.
  func hasDecided(on ticket: Ticket) -> Bool { machine.withLock { _ in ticket.isDecided } }

  /// Waits until it is decided what becomes of a member.
  nonisolated(nonsending) func decision(on ticket: Ticket) async -> Decision {
    if ticket.isAdmitted { return .begin }
    return await withCheckedContinuation { waiter in
      machine.withLock { $0.waited(ticket, waiter) }.perform()
    }
  }

  /// The run of a member is cancelled.
  func cancel(_ ticket: Ticket) { machine.withLock { $0.cancelled(ticket) }.perform() }

  /// The run of a member has ended.
  func end(_ ticket: Ticket) { machine.withLock { $0.ended(ticket) }.perform() }

  // MARK: Everybody

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
