/// Runs operations that are submitted over time, a limited number of them at once.
///
/// ```swift
/// let downloads = OperationPool(width: .limited(to: 4))
///
/// let run = downloads.submitNow(FetchPage(url))
/// cancelButton.onClick { run.cancel() }
/// let outcome = await run.outcome
/// ```
///
/// ``submitNow(_:priority:isBarrier:)`` can be called from anywhere, also from synchronous code.
/// If the queue has reached its capacity, ``submit(_:priority:isBarrier:)`` suspends until there is
/// room. This is the default, ``Overflow/wait``. With another ``Overflow``, the pool refuses the
/// new operation or one that waits. Both methods return a handle to the run, even if the pool
/// refuses the operation: the run then ends in a ``PoolRefusalError``. The pool keeps nothing of a
/// run that has ended.
///
/// A run is not a child of the submitting task. It copies the priority and the task-local values of
/// that task. It does not run on the actor of that task.
///
/// When a pool is deallocated, the operations that it has accepted still run, even if it was paused.
///
/// > Warning: A pool deadlocks if every place is occupied by a body that waits for room in the queue
/// > of the pool, or for an operation that it has submitted to it. Instead, run the other operation as
/// > a child, by `try await context.run(other)`, or submit it by
/// > ``submitNow(_:priority:isBarrier:)`` and do not wait for it. A body that waits for ``drain()``
/// > of its own pool never ends, even if it is the only body.
public final class OperationPool: Sendable {
  let admission: PoolAdmission
  let environment: OperationEnvironment
  let delegate: (any OperationPoolDelegate)?

  /// Creates a pool.
  ///
  /// - Parameters:
  ///   - width: How many operations run at once.
  ///   - order: The order in which waiting operations of the same priority begin.
  ///   - capacity: How many operations may wait.
  ///   - overflow: The reaction to an operation that is submitted when the capacity is reached.
  ///   - delegate: Observes the operations and may refuse them. The pool retains it.
  ///   - environment: The clock, random numbers, observers and executor of all runs.
  /// - Precondition: `capacity` is not negative.
  public init(
    width: OperationWidth = .limited(to: 64), order: Order = .fifo, capacity: Int = .max,
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

  /// Submits an operation without waiting, and returns a handle to its run.
  ///
  /// If the capacity of the pool is reached, its ``Overflow`` decides; with ``Overflow/wait`` the
  /// operation is refused.
  ///
  /// The handle need not be kept. A run that the pool refuses, or drops while it waits, ends in a
  /// ``PoolRefusalError``. A run that the delegate refuses ends in the error of the delegate. A run
  /// that is cancelled while it waits ends at once.
  ///
  /// - Parameters:
  ///   - operation: The operation to run.
  ///   - priority: The priority among the waiting operations.
  ///   - isBarrier: Whether the operation waits for all operations submitted before it, and runs
  ///     alone, while all operations submitted after it wait.
  /// - Returns: A handle to the run.
  @discardableResult public func submitNow<Submitted: ComposableOperation>(
    _ operation: Submitted, priority: Priority = .normal, isBarrier: Bool = false
  ) -> OperationRun<Submitted.Success> {
    PoolSubmission(operation, priority, isBarrier, to: self).start(canWait: false).run
  }

  /// Submits an operation, after a wait for room if necessary, and returns a handle to its run.
  ///
  /// The method waits if the capacity of the pool is reached and its ``Overflow`` is
  /// ``Overflow/wait``. If the calling task is cancelled during the wait, the run is cancelled.
  /// In all other respects, this method behaves like ``submitNow(_:priority:isBarrier:)``.
  ///
  /// - Parameters:
  ///   - operation: The operation to run.
  ///   - priority: The priority among the waiting operations.
  ///   - isBarrier: Whether the operation waits for all operations submitted before it, and runs
  ///     alone, while all operations submitted after it wait.
  /// - Returns: A handle to the run.
  @discardableResult public func submit<Submitted: ComposableOperation>(
    _ operation: Submitted, priority: Priority = .normal, isBarrier: Bool = false
  ) async -> OperationRun<Submitted.Success> {
    await PoolSubmission(operation, priority, isBarrier, to: self).run()
  }

  // MARK: Controlling the pool

  /// How many operations run at once. If it is reduced, operations that have begun continue.
  public var width: OperationWidth {
    get { OperationWidth(limit: admission.limit) }
    set { admission.setWidth(to: newValue.limit) }
  }

  /// The number of operations that run.
  public var runningCount: Int { admission.runningCount }

  /// The number of operations in the queue. Operations that wait for room in the queue do not
  /// count.
  public var waitingCount: Int { admission.waitingCount }

  /// Lets no operation begin until the pool is resumed. Operations that have begun continue.
  public func pause() { admission.pause() }

  /// Ends a pause.
  public func resume() { admission.resume() }

  /// Cancels all operations that were submitted before this call. Waiting operations do not begin.
  ///
  /// - Parameter reason: The reason that observers receive.
  public func cancelAll(because reason: String? = nil) { admission.cancelAll(because: reason) }

  /// Refuses all operations that are submitted from now on. Operations that have begun continue.
  ///
  /// - Parameter closing: The treatment of waiting operations.
  public func close(_ closing: Closing) { admission.close(closing) }

  /// Waits until no operation runs or waits.
  ///
  /// This includes operations that are submitted during the wait. An operation of the pool that
  /// calls this method waits for its own end, which is a deadlock. A cancellation does not end the
  /// wait. While the pool is paused and operations wait, only ``resume()``,
  /// ``cancelAll(because:)`` or ``close(_:)`` with ``Closing/rejectingPending`` ends the wait.
  public func drain() async { await admission.waitUntilDrained() }
}
