/// The handle of a started run: waits for its outcome, and cancels it.
///
/// It can be copied and dropped freely; dropping it changes nothing for the run.
public struct OperationRun<Success: Sendable>: Sendable {
  private let scope: OperationScope
  private let task: Task<TypedEnding<Success>, Never>
  /// Called when the run is cancelled, before its task is.
  private let onCancel: (@Sendable () -> Void)?
  /// What those want to know of it who have the handle.
  private let records: Records

  /// - Parameter records: What is kept of it for whoever asks.
  init(
    of operation: some ComposableOperation<Success>, in environment: OperationEnvironment,
    keeping records: Records
  ) {
    var environment = environment
    if let log = records.log { environment.observers.append(log) }
    if let progress = records.progress { environment.observers.append(progress) }
    let scope = OperationScope(of: operation, in: environment)
    self.init(in: scope, keeping: records) {
      let ending = await scope.typedEnding(of: operation, depth: 0)
      ending.discardLate()
      scope.finished()
      return ending
    }
  }

  /// - Parameters:
  ///   - startsAtOnce: Whether the body runs on the calling thread until it waits.
  ///   - body: Performs the run from its first event to its last, and then calls ``OperationScope/finished()``.
  init(
    in scope: OperationScope, keeping records: Records = Records(), startsAtOnce: Bool = false,
    onCancel: (@Sendable () -> Void)? = nil,
    _ body: @escaping @Sendable () async -> TypedEnding<Success>
  ) {
    self.scope = scope
    self.onCancel = onCancel
    self.records = records
    task = UnstructuredTasks.start(
      on: scope.environment.executor, isImmediate: startsAtOnce, body)
  }

  /// The identity of the run, which its events bear.
  public var id: OperationID { scope.place.id }

  /// How the run ends; waits for that.
  ///
  /// Any number of tasks may wait. Cancelling one of them neither cancels the run nor ends the wait.
  public var outcome: Outcome<Success> {
    get async { await task.value.outcome }
  }

  /// What the body came to although the outcome is ``Outcome/cancelled``; waits for the end.
  ///
  /// For a simple operation that is the value or error that came after the cancellation, or the error
  /// by which it cancelled itself, such as a ``Skipped`` with its reason. For a
  /// composite it is the evidence, the error that shows how every child or step ended: a
  /// ``ParallelOperationError``, a ``SequentialOperationError`` or an ``OperationGraphError``. Nil if there is
  /// nothing to show.
  ///
  /// Modifiers pass it on from their operation. `map` and `then` pass on errors only, and a body does not
  /// pass on the late outcome of a child. The closure of ``ComposableOperation/discarding(_:)`` has been
  /// called with a late value already.
  public var late: Outcome<Success>? {
    get async { await task.value.late }
  }

  /// How the run ended, for a caller that then owns the value or the late outcome. Only for runs
  /// that do not discard a late outcome themselves.
  var end: RunEnd<Success> {
    get async { await RunEnd(task.value) }
  }

  /// The events of the run and of everything below it, as many of them as it was started to keep; of a run
  /// that keeps none, its end. A reader that is cancelled stops waiting.
  public var events: OperationEvents {
    OperationEvents(records.log) { [task, scope] in
      guard await scope.waitUntilFinished() else { return nil }
      let ending = await task.value
      let end = OperationEvent.Kind.ended(
        ending.outcome.map { $0 }, late: ending.late.map { $0.map { $0 } })
      return OperationEvent(kind: end, place: scope.place)
    }
  }

  /// How far the run is; of one that was not started to track that nothing is known until it has ended, and then
  /// that it has.
  public var progress: OperationProgress {
    records.progress?.progress ?? OperationProgress(fraction: scope.hasEnded ? 1 : nil)
  }

  /// Cancels the run.
  ///
  /// If it has not ended by now its outcome is ``Outcome/cancelled``, and it ends as soon as its
  /// body returns; else nothing happens. Callable from anywhere and any number of times. Observers are notified
  /// before this returns, on the calling thread.
  public func cancel() { requestCancellation(because: nil) }

  /// Cancels the run and reports the reason to its observers. If it has been cancelled before, the
  /// first call counts.
  public func cancel(because reason: String) { requestCancellation(because: reason) }

  @available(
    *, unavailable,
    message: """
      a cancelled run ends in .cancelled, not in an error; use cancel(because:) to report a reason
      """
  )
  public func cancel(with error: (any Error)?) { preconditionFailure("unavailable") }

  /// Raises the priority of the run, if that is lower.
  func raise(to priority: TaskPriority) { task.escalatePriority(to: priority) }

  func requestCancellation(because reason: String?) {
    guard scope.cancel(because: reason) else { return }
    CancellationReports.deferring {
      onCancel?()
      task.cancel()
    }
  }
}

extension OperationRun {
  /// What is kept of a run for those who have its handle.
  struct Records: Sendable {
    var log: EventLog?
    var progress: ProgressObserver?
  }
}
