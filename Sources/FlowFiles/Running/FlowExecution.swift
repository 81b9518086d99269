import CompositeOperations
import SystemSupport

/// Runs the commands of a step or a child, with all attempts.
struct FlowExecution {
  let unit: FlowUnit
  /// The products of the steps that it needs.
  let used: FlowUse
  /// The files of its inputs before the commands run.
  let inputs: FileFingerprint
  let session: FlowSession
  let attempts: FlowAttemptCounter

  /// Runs the commands, and stores the success before it returns.
  func perform(in context: OperationContext) async throws -> FlowRecord {
    let checker = session.checker
    defer { session.output.ended(unit.name) }
    if let missing = inputs.missing {
      throw FlowFailure.other("its input '\(missing)' does not exist")
    }
    if unit.step.outputs.isEmpty, checker.record(of: unit) != nil {
      // Its work may be half undone from now on, and no output would show that.
      let isSelected = session.plan.decisions[unit.step.name] == .runs(.selected)
      if isSelected || checker.hasSucceededInRun(unit) {
        try await session.journal.forget(
          unit.name, in: checker.runs, withValuesOf: isSelected ? checker.run : nil)
      }
    }
    let lines = try await operation.perform(in: context)
    let outputs = try await session.reading(unit, in: context) { [unit] checker in
      try checker.recordedOutputs(of: unit)
    }
    let inputs =
      unit.step.comparison == .stamp
      ? inputs
      : try await session.reading(unit, in: context) { [unit, inputs] checker in
        inputs.withoutHashes(ofFilesChangedIn: try checker.inputs(of: unit))
      }
    let earlier = checker.record(of: unit)
    // Outputs as the last success left them: what needs them may stay as it is.
    let keepsOutputs =
      try !unit.step.outputs.isEmpty && earlier != nil
      && checker.difference(outputs, from: earlier?.outputs ?? "", of: unit) == nil
    return try await session.journal.add(
      FlowRecord(
        unit: unit.name, run: checker.run, definition: checker.definitions[unit.step.name] ?? "",
        inputs: inputs.text, outputs: outputs.text, lines: lines, used: used, number: 0,
        made: keepsOutputs ? earlier?.made ?? 0 : 0, ended: FlowStepRecord.now,
        duration: attempts.duration.inNanoseconds),
      replacesOthers: !unit.step.outputs.isEmpty)
  }

  /// See ``FlowLaunch/basis``.
  private var basis: String {
    String(Array("\(used.text)\n\n\(inputs.text)".utf8).hash64, radix: 16)
  }

  /// The commands, with the modifiers that the step asks for.
  private var operation: AnyOperation<[String]?> {
    let step = unit.step
    let attempt = FlowAttempt(unit: unit, basis: basis, attempts: attempts, session: session)
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
      AnyOperation(
        FlowConditionCommand(
          command: command, unit: unit, basis: basis, attempts: attempts, session: session)),
      of: step)
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
