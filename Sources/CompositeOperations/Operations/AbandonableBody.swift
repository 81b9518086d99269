/// A body that its run need not wait for.
///
/// It runs in a task of its own and is cancelled when it is left behind. How it ends then is told by
/// an event of the run, and what it comes to is given up.
final class AbandonableBody<Success: Sendable>: Sendable {
  typealias End = Result<HeldResult<Success>, any Error>

  private let machine = Lock(StateMachine())
  private let scope: OperationScope?
  private let limit: TimeLimit?
  /// The deadline on the process's timer; nil if there is no limit or another clock measures it.
  private let deadline: Int64?

  private init(scope: OperationScope?, within limit: TimeLimit?) {
    self.scope = scope
    self.limit = limit
    deadline =
      if let limit, limit.alarm == nil {
        EventTime.now.advanced(byNanoseconds: limit.nanoseconds)
      } else {
        nil
      }
  }

  private var isTimeOver: Bool {
    if let deadline { return EventTime.now.nanoseconds >= deadline }
    return limit?.alarm?.hasPassed() == true
  }

  /// Performs a body and waits for its end, for its time to be over, or for the run to be cancelled.
  ///
  /// - Parameter limit: How long to wait; nil for no limit.
  /// - Returns: Nil if the time was over first.
  /// - Throws: The error of the body, `CancellationError` if the run was cancelled first, or the
  ///   error of the clock that measures the time.
  static func perform(
    in context: OperationContext, within limit: TimeLimit? = nil,
    _ body: @escaping @Sendable (OperationContext) async throws -> HeldResult<Success>
  ) async throws -> HeldResult<Success>? {
    let abandonable = AbandonableBody(scope: context.scope, within: limit)
    let task = LinkedTask<Void, Never>()
    let clockError = await withTaskCancellationHandler {
      task.start(on: Task.preferredExecutor) {
        guard abandonable.machine.withLock({ $0.began() }) else { return }
        let end: End
        do { end = .success(try await body(context.onFreshStack)) } catch { end = .failure(error) }
        // The timer may be late, and a body that does not wait may have kept the sleeper waiting.
        if abandonable.isTimeOver { abandonable.leave(nil) }
        abandonable.ended(end)
      }
      return await abandonable.waitUntilOver(for: task)
    } onCancel: {
      abandonable.leave(task)
    }
    if let end = abandonable.machine.withLock({ $0.end }) { return try end.get() }
    try Task.checkCancellation()
    if let clockError { throw clockError }
    return nil
  }

  /// Waits until the body has ended or is abandoned.
  ///
  /// - Returns: The error of the clock that measures the time.
  private func waitUntilOver(for task: LinkedTask<Void, Never>) async -> (any Error)? {
    if let deadline {
      let departure = Departure { self.leave(task) }
      DeadlineTimer.shared.add(departure, at: deadline)
      await wait(for: task)
      DeadlineTimer.shared.remove(departure)
      return nil
    }
    guard let alarm = limit?.alarm else {
      await wait(for: task)
      return nil
    }
    return await withTaskGroup(of: (any Error)?.self) { group in
      // Apart from the threads of Swift's pool, which the body may occupy.
      let isReproducible = Task.hasPreferredExecutor
      let executor = isReproducible ? Task.preferredExecutor : HandlerExecutor.shared
      group.addImmediateTask(executorPreference: executor) {
        var failure: (any Error)?
        do { try await alarm.sleep() } catch { failure = error }
        if Task.isCancelled { return nil }
        // The run waits for this task, and not for the body's cancellation handlers.
        if isReproducible {
          self.leave(task)
        } else {
          HandlerThreads.shared.run { self.leave(task) }
        }
        return failure
      }
      await wait(for: task)
      group.cancelAll()
      return await group.next() ?? nil
    }
  }

  private func wait(for task: LinkedTask<Void, Never>) async {
    await withTaskPriorityEscalationHandler {
      await withCheckedContinuation { waiter in
        machine.withLock { $0.waited(waiter) }?.resume()
      }
    } onPriorityEscalated: { _, priority in
      task.escalatePriority(to: priority)
    }
  }

  /// Abandons the body.
  private final class Departure: Deadline, @unchecked Sendable {
    private let leave: @Sendable () -> Void

    init(_ leave: @escaping @Sendable () -> Void) { self.leave = leave }

    // The body's cancellation handlers are the user's code.
    override func reached() { HandlerThreads.shared.run(leave) }

    override var holdsUserValues: Bool { true }
  }

  /// Ends the run, unless the body has ended, and cancels the body.
  ///
  /// Does not need the task of the run, which gets no thread while bodies occupy all of them.
  private func leave(_ task: LinkedTask<Void, Never>?) {
    guard case .cancelBody(let waiter) = machine.withLock({ $0.left() }) else { return }
    // First, because the body's cancellation handlers may block.
    waiter?.resume()
    guard let task else { return }
    CancellationReports.deferring { NestedCalls.make(.cancel) { task.cancel() } }
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
