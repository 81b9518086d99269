/// Runs operations that arrive over time, a limited number of them at once.
///
/// ```swift
/// let downloads = OperationPool(width: .limited(to: 4))
///
/// let run = downloads.submitNow(FetchPage(url))
/// cancelButton.onClick { run.cancel() }
/// let outcome = await run.outcome
/// ```
///
/// ``submitNow(_:priority:isBarrier:)`` can be called from anywhere; ``submit(_:priority:isBarrier:)`` waits
/// where there is no room. Both give the handle of the run. Every run that is submitted ends, and its handle
/// tells how; the pool keeps nothing of it.
///
/// Runs belong to nobody's task: they copy the priority and the task-local values of whoever submits them
/// and leave the actor, as those do that are started by ``ComposableOperation/start(in:keepingEvents:trackingProgress:)``.
///
/// A pool that is dropped is closed, and runs what it has taken to its end; if it was paused, it goes on.
///
/// > Warning: A body that waits for its own pool, for the outcome of what it submits, for room or for
/// > ``drain()``, keeps its place meanwhile. If all places are kept like that, nobody goes on. Run the other
/// > operation as a child instead, `try await context.run(other)`, or submit it by
/// > ``submitNow(_:priority:isBarrier:)`` and do not wait.
public final class OperationPool: Sendable {
  let admission: PoolAdmission
  let environment: OperationEnvironment
  let delegate: (any OperationPoolDelegate)?

  /// - Parameters:
  ///   - width: How many run at once.
  ///   - order: Who of those that wait begins first.
  ///   - capacity: How many may wait.
  ///   - overflow: What happens when one more is submitted.
  ///   - delegate: Sees the operations come and go, and may refuse them. The pool keeps it.
  ///   - environment: The clock, random numbers and observers of all runs, and where their bodies run.
  /// - Precondition: `capacity` is not negative.
  public init(
    width: OperationWidth = .limited(to: 64), order: Order = .firstIn, capacity: Int = .max,
    overflow: Overflow = .wait, delegate: (any OperationPoolDelegate)? = nil,
    in environment: OperationEnvironment = OperationEnvironment()
  ) {
    precondition(capacity >= 0, "`capacity` must not be negative (was \(capacity))")
    admission = PoolAdmission(
      PoolAdmission.StateMachine(
        limit: width.limit, order: order, capacity: capacity, overflow: overflow))
    self.environment = environment
    self.delegate = delegate
  }

  deinit {
    admission.close(.runningWhatWaits)
    admission.resume()
  }

  // MARK: Submitting

  /// Submits an operation, and gives the handle of its run at once.
  ///
  /// It waits for nothing: where as many operations wait as may, the pool's rule for that counts, and by
  /// ``Overflow/wait`` it is refused.
  ///
  /// Nobody needs to keep the handle. A run that the pool does not take, or drops while it waits, ends in a
  /// ``PoolRefusalError``; one that the delegate refuses, in the delegate's error. One that is cancelled
  /// while it waits ends at once.
  ///
  /// - Parameters:
  ///   - operation: What is to run.
  ///   - priority: How important it is among those that wait.
  ///   - isBarrier: Whether it waits for all that were submitted before it, and runs alone, while all that
  ///     are submitted after it wait.
  @discardableResult public func submitNow<Submitted: ComposableOperation>(
    _ operation: Submitted, priority: Priority = .normal, isBarrier: Bool = false
  ) -> OperationRun<Submitted.Success> {
    PoolSubmission(operation, priority, isBarrier, to: self).start(canWait: false).run
  }

  /// Submits an operation, if necessary when there is room for it, and gives the handle of its run.
  ///
  /// It waits where the pool's rule for that is ``Overflow/wait`` and as many operations wait as may; a
  /// cancellation of the calling task ends the wait, and then the run is cancelled. All else is as by
  /// ``submitNow(_:priority:isBarrier:)``.
  ///
  /// - Parameters:
  ///   - operation: What is to run.
  ///   - priority: How important it is among those that wait.
  ///   - isBarrier: Whether it waits for all that were submitted before it, and runs alone, while all that
  ///     are submitted after it wait.
  @discardableResult public func submit<Submitted: ComposableOperation>(
    _ operation: Submitted, priority: Priority = .normal, isBarrier: Bool = false
  ) async -> OperationRun<Submitted.Success> {
    await PoolSubmission(operation, priority, isBarrier, to: self).run()
  }

  // MARK: Everybody

  /// How many run at once. Those that have begun go on when there are fewer places for them.
  public var width: OperationWidth {
    get { OperationWidth(limit: admission.limit) }
    set { admission.setWidth(to: newValue.limit) }
  }

  /// How many run just now.
  public var runningCount: Int { admission.runningCount }

  /// How many wait for a place just now; those who wait for room to wait in are not counted.
  public var waitingCount: Int { admission.waitingCount }

  /// Lets nobody begin from now on. Those that have begun go on.
  public func pause() { admission.pause() }

  /// Ends a pause.
  public func resume() { admission.resume() }

  /// Cancels all operations that were submitted before this call; those that wait will not begin.
  ///
  /// - Parameter reason: Why, for the observers.
  public func cancelAll(because reason: String? = nil) { admission.cancelAll(because: reason) }

  /// Refuses all operations that are submitted from now on. Those that have begun go on.
  ///
  /// - Parameter closing: What becomes of those that wait.
  public func close(_ closing: Closing) { admission.close(closing) }

  /// Waits until nothing runs and nothing waits.
  ///
  /// What is submitted meanwhile is waited for too; so a member that waits here waits for itself. A
  /// cancellation does not end the wait; while the pool is paused and operations wait, nothing does but
  /// ``resume()``, ``cancelAll(because:)`` or ``close(_:)`` with ``Closing/refusingWhatWaits``.
  public func drain() async { await admission.waitUntilDrained() }
}
