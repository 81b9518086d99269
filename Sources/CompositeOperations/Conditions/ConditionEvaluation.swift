/// Evaluates one condition, as a run of its own.
struct ConditionEvaluation: ComposableOperation {
  let condition: Condition

  var operationName: String { condition.name }

  func perform(in context: OperationContext) async throws -> Verdict {
    let verdict = await condition.verdict(in: context)
    if case .fail(let error) = verdict { throw error }
    return verdict
  }
}

/// Met if the condition is not.
struct NegatedCondition: ComposableOperation {
  let condition: Condition
  let operationName: String

  func perform(in context: OperationContext) async throws -> Bool {
    let verdict = await condition.verdict(in: context)
    // A cancellation of the run is no answer.
    try Task.checkCancellation()
    return try verdict.isOppositeMet()
  }
}

/// Met if all conditions are.
struct ConditionConjunction: ComposableOperation {
  let conditions: [Condition]

  var operationName: String {
    "all of \(conditions.map(\.name).joined(separator: ", "))"
  }

  func perform(in context: OperationContext) async throws -> Bool {
    let evaluations = ParallelOperation(conditions.map(ConditionEvaluation.init))
    switch await context.outcome(of: evaluations) {
    case .result(let verdicts):
      for case .skip(let skipped) in verdicts { throw skipped }
      return true
    case .error(let error):
      throw (error as? ParallelOperationError)?.failures.first?.outcome.error ?? error
    case .cancelled:
      throw CancellationError()
    }
  }
}

/// Met if one of the conditions is.
struct ConditionDisjunction: ComposableOperation {
  let conditions: [Condition]

  var operationName: String {
    "any of \(conditions.map(\.name).joined(separator: ", "))"
  }

  /// A condition that takes part in a race for being met.
  private struct Contender: ComposableOperation {
    let condition: Condition

    var operationName: String { condition.name }

    func perform(in context: OperationContext) async throws -> Bool {
      switch await condition.verdict(in: context) {
      case .proceed: return true
      case .skip(let skipped): throw NotMet(skipped: skipped)
      case .fail(let error): throw error
      }
    }
  }

  /// A contender that is not met is out of the race, and the race goes on.
  private struct NotMet: Error {
    let skipped: Skipped
  }

  func perform(in context: OperationContext) async throws -> Bool {
    if conditions.isEmpty { throw NoConditionMetError(errors: []) }
    let outcome = await context.outcome(of: RaceOperation(conditions.map(Contender.init)))
    switch outcome {
    case .result: return true
    case .cancelled: throw CancellationError()
    case .error(let error):
      let errors = (error as? ParallelOperationError)?.children.compactMap(\.outcome.error) ?? []
      for case let notMet as NotMet in errors {
        for error in errors { error.discardCarriedValues() }
        throw notMet.skipped
      }
      throw NoConditionMetError(errors: errors)
    }
  }
}
