internal import ThreadSupport

/// A body that its run can abandon before the body has ended.
///
/// The body runs in a task of its own, which is cancelled when the run abandons it. When an
/// abandoned body ends, an event of the run reports how, and its value is discarded.
final class AbandonableBody<Success: Sendable>: Sendable {
  typealias End = Result<HeldResult<Success>, any Error>

  private let machine = Lock(StateMachine())
  private let scope: OperationScope?
  private let limit: TimeLimit?
  /// The deadline on the process's timer; nil without a limit or with a custom clock.
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
    return limit?.alarm?.hasPassed == true
  }

  /// Performs a body until it ends, the time limit passes or the run is cancelled.
  ///
  /// - Parameter limit: The time limit; nil for none.
  /// - Returns: The result of the body, or nil if the time limit passed first.
  /// - Throws: The error of the body, `CancellationError` if the run was cancelled first, or the
  ///   error of the clock that measures the time.
  static func perform(
    in context: OperationContext, within limit: TimeLimit? = nil,
    _ body: @escaping @Sendable (OperationContext) async throws -> HeldResult<Success>
  ) async throws -> HeldResult<Success>? {
    let abandonable = AbandonableBody(scope: context.scope, within: limit)
    let task = LinkedTask<Void, Never>()
    let clockError = await withTaskCancellationHandler {
      await withTaskPriorityEscalationHandler {
        task.start(on: Task.preferredExecutor) { await abandonable.run(body, in: context) }
        return await abandonable.waitUntilOver(for: task)
      } onPriorityEscalated: { _, priority in
        task.escalatePriority(to: priority)
      }
    } onCancel: {
      abandonable.leave(task)
    }
    if let end = abandonable.machine.withLock({ $0.end }) { return try end.get() }
    try Task.checkCancellation()
    if let clockError { throw clockError }
    return nil
  }

  /// Runs the body in its task, unless it has been abandoned.
  private func run(
    _ body: @Sendable (OperationContext) async throws -> HeldResult<Success>,
    in context: OperationContext
  ) async {
    guard machine.withLock({ $0.began() }) else { return }
    let end: End
    do { end = .success(try await body(context.onFreshStack)) } catch { end = .failure(error) }
    // The timer may fire late, and a body that never suspends may have delayed the sleeping task.
    if isTimeOver { leave(nil) }
    ended(end, wasCancelled: Task.isCancelled)
  }

  /// Waits until the body has ended or is abandoned.
  ///
  /// - Returns: The error that the clock threw, if any.
  private func waitUntilOver(for task: LinkedTask<Void, Never>) async -> (any Error)? {
    if let deadline {
      let departure = Departure { self.leave(task) }
      DeadlineTimer.shared.add(departure, at: deadline)
      await wait()
      DeadlineTimer.shared.remove(departure)
      return nil
    }
    guard let alarm = limit?.alarm else {
      await wait()
      return nil
    }
    return await withTaskGroup(of: (any Error)?.self) { group in
      // Not on the threads of Swift's pool, which bodies may occupy.
      let isReproducible = Task.hasPreferredExecutor
      let executor = isReproducible ? Task.preferredExecutor : HandlerExecutor.shared
      group.addImmediateTask(executorPreference: executor) {
        var failure: (any Error)?
        do { try await alarm.sleep() } catch { failure = error }
        if Task.isCancelled { return nil }
        // The run waits for this task, which must not wait for the body's cancellation handlers.
        if isReproducible {
          self.leave(task)
        } else {
          HandlerThreads.shared.run { self.leave(task) }
        }
        return failure
      }
      await wait()
      group.cancelAll()
      return await group.next() ?? nil
    }
  }

  private func wait() async {
    await withCheckedContinuation { waiter in
      machine.withLock { $0.waited(waiter) }?.resume()
    }
  }

  /// A deadline that abandons the body.
  private final class Departure: Deadline, @unchecked Sendable {
    private let leave: @Sendable () -> Void

    init(_ leave: @escaping @Sendable () -> Void) { self.leave = leave }

    // The body's cancellation handlers are user code, which must not block the timer.
    override func reached() { HandlerThreads.shared.run(leave) }

    override var holdsUserValues: Bool { true }
  }

  /// Ends the run and cancels the body, unless the body has ended.
  ///
  /// Does not depend on the task of the run, which gets no thread while bodies occupy all of them.
  private func leave(_ task: LinkedTask<Void, Never>?) {
    guard case .cancelBody(let waiter) = machine.withLock({ $0.left() }) else { return }
    // Before the cancellation, because the body's cancellation handlers may block.
    waiter?.resume()
    guard let task else { return }
    CancellationReports.deferring { NestedCalls.make(.cancel) { task.cancel() } }
  }

  /// - Parameter wasCancelled: Whether the body's task is cancelled: by the body itself, or because the
  ///   body was abandoned.
  private func ended(_ end: End, wasCancelled: Bool) {
    let passedOn = wasCancelled ? .failure(end.asCancellation()) : end
    switch machine.withLock({ $0.ended(passedOn) }) {
    case .none: break
    case .resume(let waiter): waiter.resume()
    case .giveUp:
      scope?.report(.abandonedBodyEnded(Outcome(end)))
      switch end {
      case .success(let held): held.cleanup?()
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
