/// A handle to a started run, which waits for its outcome and cancels it.
///
/// ```swift
/// let run = sync.start()
/// run.cancel(because: "the window was closed")
/// let outcome = await run.outcome  // cancelled
/// ```
///
/// Copying or dropping the handle has no effect on the run.
public struct OperationRun<Success: Sendable>: Sendable {
  @usableFromInline let scope: OperationScope
  /// The body never throws; see ``UnstructuredTasks/startThrowing(on:at:isImmediate:_:)``.
  @usableFromInline let task: Task<Completion<Success>, any Error>
  @usableFromInline let onCancel: (@Sendable () -> Void)?
  /// The events and the progress that the run keeps for its handle.
  @usableFromInline let records: RunRecords

  /// - Parameters:
  ///   - task: Performs the run from its first event to its last, and then calls
  ///     ``OperationScope/finished()``.
  ///   - onCancel: Called when the run is cancelled, before the task is.
  @inlinable init(
    in scope: OperationScope, as task: Task<Completion<Success>, any Error>,
    keeping records: RunRecords = RunRecords(), onCancel: (@Sendable () -> Void)? = nil
  ) {
    self.scope = scope
    self.task = task
    self.onCancel = onCancel
    self.records = records
  }

  /// The identity of the run, which its events contain.
  public var id: OperationID { scope.id }

  /// The outcome of the run. Waits until the run has ended.
  ///
  /// Any number of tasks may wait. Cancelling a waiting task neither cancels the run nor ends the
  /// wait.
  @inlinable public var outcome: Outcome<Success> {
    get async { await completion.outcome }
  }

  /// The late outcome: how the body ended although the outcome is ``Outcome/cancelled``. Waits
  /// until the run has ended.
  ///
  /// It is one of these, or nil:
  ///
  /// - the value that the body returned, or the error that it threw, after the cancellation
  /// - the error with which the operation cancelled itself, such as a ``Skipped``, which contains
  ///   the reason; a `CancellationError` is not a late outcome
  /// - the error of a composite, which shows how every child or step ended: a
  ///   ``ParallelOperationError``, a ``SequentialOperationError`` or an ``OperationGraphError``
  ///
  /// Most modifiers pass on the late outcome of the operation that they modify. Of the exceptions,
  /// `map` passes on errors only, and `then` passes on errors and the values of its second
  /// operation. A body does not pass on the late outcome of a child. <doc:Cancelling> lists all
  /// modifiers. A late value has already been passed to the closure of
  /// ``ComposableOperation/discarding(_:)``.
  public var lateOutcome: Outcome<Success>? {
    get async { await completion.lateOutcome }
  }

  /// The completion of the run. The caller then owns the value or the late outcome, so the run must
  /// not be one that discards its late outcome.
  @inlinable var completion: Completion<Success> {
    get async {
      do { return try await task.value } catch { return .error(error, wasCancelled: false) }
    }
  }

  /// The last events of the run and of its descendants.
  ///
  /// Their maximum number is the argument `keepingEvents` of
  /// ``ComposableOperation/start(in:keepingEvents:trackingProgress:)``. If it is 0, this sequence
  /// contains only the end of the run. Unlike a task that waits for ``outcome``, a task that waits
  /// for the next event stops waiting when it is cancelled.
  public var events: OperationEvents {
    OperationEvents(records.log) { [self] in
      guard await scope.waitUntilFinished() else { return nil }
      let completion = await completion
      let end = OperationEvent.Kind.ended(
        completion.outcome.map { $0 }, lateOutcome: completion.lateOutcome.map { $0.map { $0 } })
      return OperationEvent(kind: end, place: scope.place)
    }
  }

  /// The progress of the run. If the run was started without `trackingProgress: true`, the fraction
  /// is nil until the run has ended, and then 1.
  public var progress: OperationProgress {
    records.progress?.progress ?? OperationProgress(fraction: scope.hasEnded ? 1 : nil)
  }

  /// Cancels the run.
  ///
  /// If the run has not ended, its outcome is ``Outcome/cancelled``, and it ends as soon as its
  /// body returns. Otherwise this method has no effect. It may be called from anywhere and any
  /// number of times. Observers are notified on the calling thread before this returns.
  public func cancel() { requestCancellation(because: nil) }

  /// Cancels the run and reports a reason to its observers. If the run is cancelled several times,
  /// the first call counts.
  ///
  /// - Parameter reason: The reason for the cancellation.
  public func cancel(because reason: String) { requestCancellation(because: reason) }

  /// Unavailable. Use ``cancel(because:)``.
  @available(
    *, unavailable,
    message: """
      a cancelled run ends in .cancelled, not in an error; use cancel(because:) to report a reason
      """
  )
  public func cancel(with error: (any Error)?) { preconditionFailure("unavailable") }

  /// Raises the priority of the run, if it is lower.
  func raise(to priority: TaskPriority) { task.escalatePriority(to: priority) }

  func requestCancellation(because reason: String?) {
    guard scope.cancel(because: reason) else { return }
    CancellationReports.deferring {
      onCancel?()
      task.cancel()
    }
  }
}

/// The events and the progress that a run keeps for its handle.
@usableFromInline struct RunRecords: Sendable {
  let log: EventLog?
  let progress: ProgressObserver?

  init(log: EventLog?, progress: ProgressObserver?) {
    self.log = log
    self.progress = progress
  }

  @usableFromInline init() { self.init(log: nil, progress: nil) }
}
