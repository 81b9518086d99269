import CompositeOperations

/// A step without `each`, or a child: decides whether it has to run, runs it, and stores its success
/// before it ends.
struct FlowUnitOperation: ComposableOperation {
  let unit: FlowUnit
  /// The states of the steps that it needs, by name.
  let needs: [String: FlowStepState]
  let session: FlowSession

  var operationName: String { unit.name }

  func perform(in context: OperationContext) async throws -> FlowStepState {
    if session.isStopped(for: unit.step) { throw CancellationError() }
    if unit.step.isGroup {
      session.note(end(.succeeded))
      return FlowStepState(FlowMade(needs.map { (name: $0.key, made: $0.value.made) }))
    }
    let used = FlowUse(needs.mapValues(\.made))
    let attempts = FlowAttemptCounter()
    defer { session.runner.ended(unit) }
    do {
      if session.plan.decisions[unit.step.name] != .runs(.selected) {
        let predecessor = session.plan.predecessor(of: unit.step)
        let decision = try await session.reading(unit, in: context) { [unit] checker in
          try checker.decision(for: unit, needs: used, predecessor: predecessor)
        }
        if decision.isSettled {
          if unit.step.comparison == .content {
            await session.renewRecords(of: [unit], in: context)
          }
          session.note(end(decision == .done ? .done : .upToDate))
          return FlowStepState(session.checker.record(of: unit))
        }
      }
      let execution = FlowExecution(
        unit: unit, used: used,
        inputs: try await session.reading(unit, in: context) { [unit] checker in
          try checker.recordedInputs(of: unit)
        }, session: session, attempts: attempts)
      let record = try await execution.perform(in: context)
      session.note(end(.succeeded, duration: attempts.duration, attempts: attempts.count))
      return FlowStepState(record)
    } catch {
      throw note(error, attempts)
    }
  }

  /// Notes the end of a unit that has not succeeded.
  private func note(_ error: any Error, _ attempts: FlowAttemptCounter) -> any Error {
    let (duration, count) = (attempts.duration, attempts.count)
    if error is Skipped {
      session.note(end(.skipped, reason: "only-if is not met"))
      return error
    }
    if Task.isCancelled || error.meansCancellation {
      session.note(end(.cancelled, duration: duration, attempts: count))
      return CancellationError()
    }
    let failure = FlowFailure(error).hiding(session.checker.secrets)
    var lines =
      attempts.outputStart.map { session.checker.log(of: unit.name).lastLines(20, after: $0) } ?? []
    // The message of the program does not say why it has no terminal.
    if lines.contains(where: { $0.contains("/dev/tty") || $0.contains("a terminal is required") }) {
      lines.append("(only a step with 'interactive: true' can read the terminal)")
    }
    session.note(
      end(
        .failed, reason: "\(failure)", duration: duration, attempts: count, lastLines: lines))
    return failure
  }

  private func end(
    _ state: FlowEnd.State, reason: String? = nil, duration: Duration? = nil, attempts: Int = 0,
    lastLines: [String] = []
  ) -> FlowEnd {
    FlowEnd(
      unit: unit.name, state: state, reason: reason, duration: duration, attempts: attempts,
      lastLines: lastLines, log: state == .failed ? session.checker.log(of: unit.name).path : nil,
      isChild: unit.each != nil)
  }
}

/// Counts an attempt before its timeout begins, which may end it before its commands begin.
struct FlowCountedAttempt: ComposableOperation {
  let attempt: AnyOperation<[String]?>
  let counter: FlowAttemptCounter
  /// Called with the number of the attempt when it begins.
  let onBegin: @Sendable (Int) -> Void

  var operationName: String { attempt.operationName }

  func perform(in context: OperationContext) async throws -> [String]? {
    onBegin(counter.add())
    return try await attempt.perform(in: context)
  }
}

/// The number of attempts that have begun, and when the first one did: not before there was a slot.
final class FlowAttemptCounter: Sendable {
  private struct State {
    var count = 0
    var began = ContinuousClock.now
    var outputStart: Int?
  }

  private let state = Lock(State())

  var count: Int { state.withLock(\.count) }

  /// The time since the first attempt began.
  var duration: Duration { ContinuousClock.now - state.withLock(\.began) }

  /// Where the output of the last command begins in the log; nil before there was one.
  var outputStart: Int? { state.withLock(\.outputStart) }

  func began(outputAt offset: Int) { state.withLock { $0.outputStart = offset } }

  /// Counts an attempt, and returns its number.
  func add() -> Int {
    let now = ContinuousClock.now
    return state.withLock { state in
      if state.count == 0 { state.began = now }
      state.count += 1
      return state.count
    }
  }
}
