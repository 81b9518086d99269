/// Who waits for which permits, for all permits that somebody waits for.
///
/// One for the process, because who waits for whom may lead through any number of permits. It is
/// asked only where somebody has to wait.
enum PermitLedger {
  private static let machine = Lock(StateMachine())

  /// Takes permits; waits for those who came before.
  ///
  /// - Parameter hold: What is held above.
  /// - Throws: `CancellationError` at once when the task is cancelled, and a ``PermitError`` at once
  ///   where waiting would never end.
  static func take(_ claims: [PermitClaim], below hold: PermitHold?) async throws {
    let ticket = machine.withLock { $0.nextTicket() }
    let answer = await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        let request = StateMachine.Request(claims: claims, above: hold, waiter: waiter)
        resume(machine.withLock { $0.asked(request, as: ticket) })
        // A cancellation that came before has found nobody.
        if Task.isCancelled { cancel(ticket) }
      }
    } onCancel: {
      cancel(ticket)
    }
    switch answer {
    case .taken: break
    case .cancelled: throw CancellationError()
    case .refused(let error): throw error
    }
  }

  static func giveBack(_ claim: PermitClaim) {
    resume(machine.withLock { $0.gaveBack(claim) })
  }

  static func leftCount(of permits: Permits) -> Int {
    machine.withLock { machine in
      // They may have begun to count themselves again meanwhile.
      permits.countedByItself ?? machine.left(of: permits)
    }
  }

  static func waitingCount(for permits: Permits) -> Int {
    machine.withLock { $0.waitingCount(for: permits) }
  }

  private static func cancel(_ ticket: StateMachine.Ticket) {
    resume(machine.withLock { $0.cancelled(ticket) })
  }

  private static func resume(_ answered: [StateMachine.Answered]) {
    for answered in answered { answered.waiter.resume(returning: answered.answer) }
  }
}
