/// A body that its run need not wait for.
///
/// It runs in a task of its own and is cancelled when it is left behind. How it ends then is told by
/// an event of the run, and what it comes to is given up.
final class AbandonableBody<Success: Sendable>: Sendable {
  typealias End = Result<HeldResult<Success>, any Error>

  private let machine = Lock(StateMachine())
  private let scope: OperationScope?

  private init(scope: OperationScope?) { self.scope = scope }

  /// Performs a body and waits for its end, for its time to be over, or for the run to be cancelled.
  ///
  /// - Parameter limit: How long to wait; nil for any time.
  /// - Returns: Nil if the time was over first.
  /// - Throws: What the body threw, `CancellationError` if the run was cancelled first, or what the clock threw that
  ///   was to measure the time.
  static func perform(
    in context: OperationContext, within limit: TimeLimit? = nil,
    _ body: @escaping @Sendable (OperationContext) async throws -> HeldResult<Success>
  ) async throws -> HeldResult<Success>? {
    let abandonable = AbandonableBody(scope: context.scope)
    let task = UnstructuredTasks.start(on: Task.preferredExecutor) {
      guard abandonable.machine.withLock({ $0.began() }) else { return }
      let end: End
      do { end = .success(try await body(context.onFreshStack)) } catch { end = .failure(error) }
      // A body that does not wait may have kept the sleeper from noticing.
      if limit?.alarm?.hasPassed() == true { abandonable.leave(nil) }
      abandonable.ended(end)
    }
    let clockError = await abandonable.wait(for: task, within: limit)
    if let end = abandonable.machine.withLock({ $0.end }) { return try end.get() }
    try Task.checkCancellation()
    if let clockError { throw clockError }
    return nil
  }

  /// Waits until the body has ended or is left behind.
  ///
  /// - Returns: What the clock threw that was to measure the time.
  private func wait(for task: Task<Void, Never>, within limit: TimeLimit?) async -> (any Error)? {
    guard let limit else {
      await wait(for: task)
      return nil
    }
    guard let alarm = limit.alarm else {
      let deadline = Departure { self.leave(task) }
      let time = EventTime.now.advanced(byNanoseconds: limit.nanoseconds)
      DeadlineTimer.shared.add(deadline, at: time)
      await wait(for: task)
      DeadlineTimer.shared.remove(deadline)
      return nil
    }
    return await withTaskGroup(of: (any Error)?.self) { group in
      // Apart from the threads of Swift's pool, which the body may occupy.
      let executor = Task.hasPreferredExecutor ? Task.preferredExecutor : HandlerExecutor.shared
      group.addImmediateTask(executorPreference: executor) {
        do { try await alarm.sleep() } catch {
          if Task.isCancelled { return nil }
          self.leave(task)
          return error
        }
        self.leave(task)
        return nil
      }
      await wait(for: task)
      group.cancelAll()
      return await group.next() ?? nil
    }
  }

  private func wait(for task: Task<Void, Never>) async {
    await withTaskCancellationHandler {
      await withTaskPriorityEscalationHandler {
        await withCheckedContinuation { waiter in
          machine.withLock { $0.waited(waiter) }?.resume()
        }
      } onPriorityEscalated: { _, priority in
        task.escalatePriority(to: priority)
      }
    } onCancel: {
      leave(task)
    }
  }

  /// Leaves the body behind.
  private final class Departure: Deadline, @unchecked Sendable {
    private let leave: @Sendable () -> Void

    init(_ leave: @escaping @Sendable () -> Void) { self.leave = leave }

    // The body's cancellation handlers are the user's code.
    override func reached() { HandlerThreads.shared.run(leave) }
  }

  /// Ends the run, unless the body has ended, and cancels the body.
  ///
  /// Not left to the task of the run, for which there is no thread while bodies occupy all of them.
  private func leave(_ task: Task<Void, Never>?) {
    guard case .cancelBody(let waiter) = machine.withLock({ $0.left() }) else { return }
    // First, because the body's cancellation handlers may block.
    waiter?.resume()
    if let task { CancellationReports.deferring { task.cancel() } }
  }

  private func ended(_ end: End) {
    switch machine.withLock({ $0.ended(end) }) {
    case .none: break
    case .resume(let waiter): waiter.resume()
    case .giveUp:
      scope?.report(.abandonedBodyEnded(Outcome(end)))
      switch end {
      case .success(let held): held.disposal?()
      case .failure(let error): error.discardCarriedValues()
      }
    }
  }
}

extension Outcome<any Sendable> {
  fileprivate init(_ end: Result<HeldResult<some Sendable>, any Error>) {
    switch end {
    case .success(let held): self = .result(held.value)
    case .failure(let error): self = error.meansCancellation ? .cancelled : .error(error)
    }
  }
}
