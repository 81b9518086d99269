/// Which requests wait for which permits, for all permits that have waiters.
///
/// There is one ledger for the process, because a cycle of waiters can lead through any number of
/// permits. It is used only where an operation has to wait.
package enum PermitLedger {
  private static let machine = Lock(StateMachine())

  /// Takes permits in FIFO order, after all earlier requests.
  ///
  /// - Parameter hold: The permits that the requesting run and its enclosing runs hold.
  /// - Throws: `CancellationError` at once when the task is cancelled, and a ``PermitError`` at
  ///   once if the wait would never end.
  static func take(_ claims: [PermitClaim], below hold: PermitHold?) async throws {
    let request = Request(claims, below: hold)
    let answer = await withTaskCancellationHandler {
      await withTaskPriorityEscalationHandler {
        await withCheckedContinuation { waiter in
          let (task, priority) = (RunningTask.own, Task.currentPriority)
          perform { machine in
            request.waiter = waiter
            request.task = task
            return machine.asked(request, at: priority)
          }
          // An earlier cancellation found no waiting request.
          if Task.isCancelled { perform { $0.cancelled(request) } }
        }
      } onPriorityEscalated: { _, priority in
        perform(inHandler: true) { $0.escalated(request, to: priority) }
      }
    } onCancel: {
      perform(inHandler: true) { $0.cancelled(request) }
    }
    switch answer {
    case .taken: break
    case .cancelled: throw CancellationError()
    // The names of permits are computed by user code, so the error is not made under the lock.
    case .refused: throw PermitError(wanting: claims, below: hold)
    }
  }

  static func giveBack(_ claim: PermitClaim) {
    perform { $0.gaveBack(claim) }
  }

  /// Records that a hold has ended while requests below it wait.
  static func end(_ hold: PermitHold) {
    perform { $0.ended(hold) }
  }

  static func leftCount(of permits: Permits) -> Int {
    machine.withLock { machine in
      // The permits may have left the ledger in the meantime.
      permits.countedByItself ?? machine.left(of: permits)
    }
  }

  static func waitingCount(for permits: Permits) -> Int {
    machine.withLock { $0.waitingCount(for: permits) }
  }

  /// The highest priority of the requests that wait for any of the permits; nil if there are none.
  static func priority(ofWaitersFor claims: [PermitClaim]) -> TaskPriority? {
    machine.withLock { machine in claims.compactMap { machine.priority(ofWaitersFor: $0.permits) } }
      .max()
  }

  /// Has the state machine handle an event, and resumes the waiters after the lock.
  ///
  /// - Parameter inHandler: Whether the runtime calls this as a handler of a task. It then holds the
  ///   lock of that task, so the priority of another one is raised on another thread: that takes
  ///   the lock of the other one, whose handlers may lead back here.
  private static func perform(
    inHandler: Bool = false, _ event: (inout StateMachine) -> Effects
  ) {
    var effects = machine.withLock(event)
    while true {
      for answered in effects.answered {
        if inHandler, answered.priority != nil {
          HandlerThreads.shared.run { resume(answered) }
        } else {
          resume(answered)
        }
      }
      for raise in effects.raises {
        if inHandler {
          HandlerThreads.shared.run { raiseHolders(of: raise.permits) }
        } else {
          raise.permits.raiseHolders(to: raise.priority)
        }
      }
      guard effects.isIncomplete else { return }
      effects = machine.withLock { $0.continueAdmitting() }
    }
  }

  private static func resume(_ answered: Effects.Answered) {
    // Before its run continues, which may take long at its own priority.
    if let priority = answered.priority {
      answered.request.task?.escalatePriority(to: priority)
    }
    answered.request.waiter?.resume(returning: answered.answer)
  }

  /// Raises the holders of permits to the priority of the requests that still wait for them.
  private static func raiseHolders(of permits: Permits) {
    let priority = machine.withLock { $0.priority(ofWaitersFor: permits) }
    if let priority { permits.raiseHolders(to: priority) }
  }
}
