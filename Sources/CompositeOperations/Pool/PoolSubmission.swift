/// One operation on its way into a pool and through it, without the pool itself.
struct PoolSubmission<Submitted: ComposableOperation>: Sendable {
  let ticket = PoolAdmission.Ticket()
  private let operation: Submitted
  private let priority: OperationPool.Priority
  private let isBarrier: Bool
  private let scope: OperationScope
  private let admission: PoolAdmission
  private let delegate: (any OperationPoolDelegate)?
  /// Stands for the end of the run, if whoever waits for it holds permits.
  private let hold: PermitHold?

  init(
    _ operation: Submitted, _ priority: OperationPool.Priority, _ isBarrier: Bool,
    to pool: OperationPool, holding hold: PermitHold? = nil
  ) {
    self.operation = operation
    self.priority = priority
    self.isBarrier = isBarrier
    self.hold = hold
    scope = OperationScope(of: operation, in: pool.environment, holding: hold)
    admission = pool.admission
    delegate = pool.delegate
  }

  private var member: PoolMember {
    PoolMember(
      id: scope.place.id, operation: operation, priority: priority, isBarrier: isBarrier)
  }

  /// Starts the run, which begins when it is admitted, or never.
  ///
  /// - Parameter canWait: Whether whoever submits it can wait for room.
  /// - Returns: The run, and whether it waits for room.
  func start(canWait: Bool) -> (run: OperationRun<Submitted.Success>, wantsRoom: Bool) {
    do { try delegate?.willTake(member) } catch {
      return (OperationRun(in: scope) { await refused(error) }, false)
    }
    let run = OperationRun(
      in: scope, onCancel: { [admission, ticket] in admission.cancel(ticket) }, { await admitted() }
    )
    let wantsRoom = admission.submit(ticket, priority, isBarrier: isBarrier, canWait: canWait) {
      run.requestCancellation(because: $0)
    }
    return (run, wantsRoom)
  }

  /// Starts the run, if necessary when there is room for it.
  func run() async -> OperationRun<Submitted.Success> {
    let (run, wantsRoom) = start(canWait: true)
    if wantsRoom { await admission.waitForRoom(ticket) }
    return run
  }

  private func refused(_ error: any Error) async -> TypedEnding<Submitted.Success> {
    let ending = await scope.typedEnding(of: operation) { .refused(error) }
    hold?.end()
    return ending
  }

  private func admitted() async -> TypedEnding<Submitted.Success> {
    let ending = await scope.typedEnding(of: operation) {
      switch await admission.decision(on: ticket) {
      case .begin:
        delegate?.didBegin(member)
        return .begin
      case .cancelled: return .cancelled
      case .refused(let reason):
        return .refused(PoolRefusalError(name: operation.operationName, reason: reason))
      }
    }
    delegate?.didEnd(member, in: ending.outcome.map { $0 })
    admission.end(ticket)
    hold?.end()
    return ending
  }
}
