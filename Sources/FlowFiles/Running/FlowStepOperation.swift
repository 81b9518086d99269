import CompositeOperations

/// A step of a flow: its commands, or its children.
struct FlowStepOperation: ComposableOperation {
  let step: FlowStep
  /// The states of the steps that it needs, by name.
  let needs: [String: FlowStepState]
  let session: FlowSession

  var operationName: String { step.name }

  func perform(in context: OperationContext) async throws -> FlowStepState {
    defer { session.children[step.name]?.close() }
    if step.each == nil {
      return try await FlowUnitOperation(
        unit: FlowUnit(step: step, each: nil), needs: needs, session: session
      ).perform(in: context)
    }
    let state = await session.childrenState(of: step, needs: needs, in: context)
    return try state.get()
  }
}

extension FlowSession {
  /// Runs the children of a step.
  fileprivate nonisolated(nonsending) func childrenState(
    of step: FlowStep, needs: [String: FlowStepState], in context: OperationContext
  ) async -> Result<FlowStepState, any Error> {
    let clock = ContinuousClock.now
    do {
      if isStopped(for: step) { throw CancellationError() }
      guard let values = try await values(of: step, needs) else {
        throw Skipped(because: "the step of its children has not begun")
      }
      if values.contains(where: { checker.secrets.areFound(in: Array($0.utf8)) }) {
        throw FlowFailure.lines("a child has a secret in its name, which would be stored")
      }
      try checkRows(step, values)
      began(step, children: values)
      children[step.name]?.values.set(values)
      let operations = values.map { value in
        FlowChildOperation(
          unit: FlowUnit(step: step, each: value), needs: needs, session: self)
      }
      let width = step.width ?? max(slots.count, 1)
      let list = ParallelOperation(
        operations, width: .limited(to: width), onFailure: .runAll)
      let states = try await list.perform(in: context)
      note(FlowEnd(unit: step.name, state: .succeeded, duration: .now - clock))
      return .success(
        FlowStepState(FlowMade(zip(operations, states).map { ($0.operationName, $1.made) })))
    } catch let error as ParallelOperationError {
      let failed = error.failures.count
      if failed > 0 {
        let failure = FlowFailure.children(failed: failed, of: error.children.count)
        note(
          FlowEnd(
            unit: step.name, state: .failed, reason: "\(failure)", duration: .now - clock))
        return .failure(failure)
      }
      return .failure(noteUnfinished(step, error))
    } catch {
      if error.meansCancellation {
        return .failure(noteUnfinished(step, error))
      }
      let failure = FlowFailure(error)
      note(FlowEnd(unit: step.name, state: .failed, reason: "\(failure)"))
      return .failure(failure)
    }
  }

  /// Notes the end of a step whose children were cancelled or skipped.
  private func noteUnfinished(_ step: FlowStep, _ error: any Error) -> any Error {
    if Task.isCancelled || isStopped(for: step) {
      note(FlowEnd(unit: step.name, state: .cancelled))
      return CancellationError()
    }
    note(FlowEnd(unit: step.name, state: .skipped, reason: "not all of its children ran"))
    return Skipped(because: "not all of its children ran")
  }

  /// Returns the values of the children of a step; nil if the step that provides them has none.
  private nonisolated(nonsending) func values(
    of step: FlowStep, _ needs: [String: FlowStepState]
  ) async throws -> [String]? {
    switch step.each {
    case nil, .list, .matrix, .glob, .rowsOfFile: return try checker.values(of: step)
    case .linesOf(let source), .rowsOf(let source):
      guard let lines = needs[source.name]?.lines ?? checker.records[ExactText(source.name)]?.lines
      else {
        throw FlowFailure.lines(
          "the lines of '\(source.name)' are unknown; run that step first")
      }
      return lines
    case .sameAs(let source): return try await children[source.name]?.values.wait()
    }
  }
}

/// A child of a step.
struct FlowChildOperation: ComposableOperation {
  let unit: FlowUnit
  let needs: [String: FlowStepState]
  let session: FlowSession

  var operationName: String { unit.name }

  func perform(in context: OperationContext) async throws -> FlowStepState {
    let end = unit.each.flatMap { session.children[unit.step.name]?.end(of: $0) }
    defer { end?.set(nil) }
    var needs = needs
    if case .sameAs(let source) = unit.step.each, let each = unit.each {
      guard let state = try await session.children[source.name]?.end(of: each).wait() else {
        let reason = "it needs '\(source.name)[\(each)]'"
        session.note(
          FlowEnd(unit: unit.name, state: .skipped, reason: reason, isChild: true))
        throw Skipped(because: reason)
      }
      needs[source.name] = state
    }
    let state = try await FlowUnitOperation(unit: unit, needs: needs, session: session)
      .perform(in: context)
    end?.set(state)
    return state
  }
}
