import CompositeOperations
import SystemSupport

/// Runs the commands of a step or a child, with all attempts.
struct FlowExecution: ComposableOperation {
  let unit: FlowUnit
  /// The states of the steps that it needs, combined.
  let needs: FlowStepState
  let session: FlowSession
  let attempts = FlowAttemptCounter()

  var operationName: String { unit.name }

  func perform(in context: OperationContext) async throws -> FlowStamp {
    let checker = session.checker
    let earlier = checker.stamps[unit.name]
    try FlowLog(session.folder.log(of: unit.name)).begin(runBegan: session.reporter.runBegan)
    let inputs = try checker.inputs(of: unit)
    if let missing = inputs.missing {
      throw FlowFailure.other("its input '\(missing)' does not exist")
    }
    let before = try checker.outputs(of: unit)
    let lines = try await operation.perform(in: context)
    let after = try checker.outputs(of: unit)
    let ended = EventTime.wallClockNow
    let changed: Int64
    if unit.step.outputs.isEmpty {
      changed = needs.changed
    } else if let earlier, after == before, after.text == earlier.outputs {
      changed = earlier.changed
    } else {
      changed = ended
    }
    let isCurrent = checker.isCurrent(unit, needs: needs)
    return FlowStamp(
      unit: unit.name, run: checker.run, definition: checker.definitions[unit.step.name] ?? "",
      inputs: inputs.text, outputs: after.text, lines: lines, ended: ended, changed: changed,
      since: isCurrent ? max(earlier?.since ?? ended, needs.since) : ended,
      duration: attempts.duration.inNanoseconds)
  }

  /// The commands, with the modifiers that the step asks for.
  private var operation: AnyOperation<[String]?> {
    let step = unit.step
    let attempt = FlowAttempt(unit: unit, session: session)
    let timed = FlowCountedAttempt(
      attempt: step.timeout.map { AnyOperation(attempt.timingOut(after: $0)) }
        ?? AnyOperation(attempt),
      counter: attempts, onBegin: { [session, unit] in session.began(unit, attempt: $0) })
    // Without retries, only an attempt needs a task that the stop can cancel. A step that waits for a
    // slot or a lock is stopped when it has it.
    let isRepeated = step.retries > 0
    let once = AnyOperation(timed)
    let inSlot = AnyOperation(
      (isRepeated ? once : session.stoppable(once, of: step)).limited(by: session.slots))
    // A step does not hold its locks between two attempts.
    var operation = Self.limited(inSlot, step.locks[...], session.locks)
    if isRepeated {
      let backoff = step.backoff.map { Backoff.exponential(from: $0).jittered(.equal) } ?? .none
      operation = session.stoppable(
        AnyOperation(
          operation.retrying(
            RetryPolicy(
              attempts: step.retries + 1, backoff: backoff, throwing: .lastAttempt,
              when: { FlowFailure($0).isWorthRetrying }))), of: step)
    }
    guard let command = step.onlyIf else { return operation }
    let condition = session.stoppable(
      AnyOperation(FlowConditionCommand(command: command, unit: unit, session: session)), of: step)
    return AnyOperation(
      operation.requiring(Condition(condition.limited(by: session.slots).named("only-if"))))
  }

  /// Adds the locks, which the engine takes together. A step takes its slot after them: one that waits
  /// for a lock does not delay the others.
  private static func limited(
    _ operation: some ComposableOperation<[String]?>, _ locks: ArraySlice<FlowLock>,
    _ permits: [String: Permits]
  ) -> AnyOperation<[String]?> {
    guard let lock = locks.first, let permit = permits[lock.name] else {
      return AnyOperation(operation)
    }
    return limited(
      operation.limited(by: permit, taking: min(lock.permits, permit.count)),
      locks.dropFirst(), permits)
  }
}
