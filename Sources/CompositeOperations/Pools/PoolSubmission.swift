/// The submission of one operation to a pool, up to the end of its run. It does not retain the
/// pool.
struct PoolSubmission<Submitted: ComposableOperation>: Sendable {
  let ticket = PoolAdmission.Ticket()
  private let operation: Submitted
  private let priority: OperationPool.Priority
  private let isBarrier: Bool
  private let scope: OperationScope
  private let admission: PoolAdmission
  private let delegate: (any OperationPoolDelegate)?
  /// Represents the end of the run, if its waiter holds permits.
  private let hold: PermitHold?
  /// Whether the submitter receives the late outcome of the run.
  private let passesOnLate: Bool

  init(
    _ operation: Submitted, _ priority: OperationPool.Priority, _ isBarrier: Bool,
    to pool: OperationPool, holding hold: PermitHold? = nil,
    until deadline: EnclosingDeadline? = nil, partOf probes: [CircuitProbe] = [],
    passesOnLate: Bool = false
  ) {
    self.operation = operation
    self.priority = priority
    self.isBarrier = isBarrier
    self.hold = hold
    self.passesOnLate = passesOnLate
    var environment = pool.environment
    if !probes.isEmpty { environment.probes = probes }
    scope = operation.makeScope(in: environment, holding: hold, until: deadline)
    admission = pool.admission
    delegate = pool.delegate
  }

  private var member: PoolMember {
    PoolMember(
      id: scope.id, operation: operation, priority: priority, isBarrier: isBarrier)
  }

  /// Starts the run, which begins when it is admitted, or never.
  ///
  /// - Parameter canWait: Whether the submitter can wait for room.
  /// - Returns: The run, and the remaining wait of the submitter.
  func start(
    canWait: Bool
  ) -> (run: OperationRun<Submitted.Success>, remainder: PoolAdmission.Remainder) {
    do { try delegate?.willTake(member) } catch {
      return (refused(error, isMember: false), .isDone)
    }
    // A refused operation costs no task, because an overloaded pool may refuse many.
    if let reason = admission.refusal(isBarrier: isBarrier, canWait: canWait) {
      return (refused(error(for: reason), isMember: true), .isDone)
    }
    let task = UnstructuredTasks.startThrowing(on: scope.executor) { await admitted() }
    let run = OperationRun(
      in: scope, as: task, onCancel: { [admission, ticket] in admission.cancel(ticket) })
    let remainder = admission.submit(ticket, priority, isBarrier: isBarrier, canWait: canWait) {
      run.requestCancellation(because: $0)
    }
    return (run, remainder)
  }

  /// Starts the run, after a wait for room if necessary.
  func run() async -> OperationRun<Submitted.Success> {
    let (run, remainder) = start(canWait: true)
    switch remainder {
    case .isDone: break
    case .roomIsWanted: await admission.waitForRoom(ticket)
    case .othersAreLeaving: await Task.yield()
    }
    return run
  }

  /// Creates a run that ends in an error before this method returns.
  ///
  /// - Parameter isMember: Whether the delegate has accepted the operation.
  private func refused(
    _ error: any Error, isMember: Bool
  ) -> OperationRun<Submitted.Success> {
    let task = UnstructuredTasks.startThrowing(on: scope.executor, isImmediate: true) {
      let completion = await operation.complete(in: scope) { .refused(error) }
      if isMember { delegate?.didEnd(member, in: completion.outcome.map { $0 }) }
      hold?.end()
      ended(completion)
      return completion
    }
    return OperationRun(in: scope, as: task)
  }

  private nonisolated(nonsending) func decision() async -> PoolAdmission.Decision {
    if ticket.isAdmitted { return .begin }
    guard scope.isObserved, !admission.hasDecided(on: ticket) else {
      return await admission.decision(on: ticket)
    }
    return await scope.waiting(for: .place) { await admission.decision(on: ticket) }
  }

  private func error(for reason: PoolRefusalError.Reason) -> PoolRefusalError {
    PoolRefusalError(name: operation.operationName, reason: reason)
  }

  private func admitted() async -> Completion<Submitted.Success> {
    let completion = await operation.complete(in: scope) {
      switch await decision() {
      case .begin:
        delegate?.didBegin(member)
        return .begin
      case .cancelled: return .cancelled
      case .refused(let reason): return .refused(error(for: reason))
      }
    }
    delegate?.didEnd(member, in: completion.outcome.map { $0 })
    admission.end(ticket)
    hold?.end()
    ended(completion)
    return completion
  }

  private func ended(_ completion: Completion<Submitted.Success>) {
    if !passesOnLate { completion.discardLateOutcome() }
    scope.finished()
  }
}
