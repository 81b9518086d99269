// Conditions: Q1 and Q2.

extension Oracle {
  mutating func conditionAsked(_ index: Int, of node: Int, ticket: Int, _ isCancelled: Bool) {
    let name = "condition \(index) of n\(node)"
    // With several workers the run may stop waiting for a condition that is about to begin.
    expect(order == .partial || !isCancelled, "O2, Q2: \(name) began although it was cancelled")
    guard let run = runs[node], run.isLive,
      case .modified(.requiring(let requiring), _) = run.place.node.kind
    else {
      return expect(order == .partial, "Q2: \(name) began after the end of the run")
    }
    expect(run.conditions[index] == nil, "Q2: \(name) was evaluated twice")
    // With several workers the verdict may become certain while a condition begins.
    expect(
      order == .partial || run.children.isEmpty,
      "Q2: \(name) was evaluated after the body had begun")
    expect(
      order == .partial || conditionResult(of: requiring, run) == nil,
      "Q2: \(name) was evaluated although the result was certain")
    run.conditions[index] = .isAsked
    asked[ticket] = (run, index)
  }

  mutating func conditionAnswered(_ ticket: Int, _ answer: Entry.ConditionAnswer) {
    guard let (run, index) = asked[ticket], run.isLive else { return }
    run.conditions[index] = .answered(answer)
  }

  // MARK: The end

  mutating func checkMayBeginRequiring(
    _ run: NodeRun, _ requiring: Tree.Requiring, below parent: NodeRun
  ) {
    expect(
      parent.children.isEmpty && conditionResult(of: requiring, parent) == .proceeds,
      "Q1, Q2: the body of n\(parent.place.node.id) began, but the conditions do not allow it")
  }

  mutating func checkRequiringOutcome(
    _ body: ShownOutcome, _ requiring: Tree.Requiring, _ run: NodeRun
  ) {
    if !run.children.isEmpty { return checkModifiedOutcome(body, run) }
    let name = "n\(run.place.node.id)"
    let isRight =
      switch (body, conditionResult(of: requiring, run)) {
      case (.error(.cancellation), _): run.isKnownCancelled
      case (.error(.skipped(let reason)), .skips): reasons(of: run).contains(reason)
      case (.error(.noneMet(let errors)), .fails):
        requiring.combination == .any && errors == run.failuresOfConditions
      case (.error(let error), .fails):
        requiring.combination != .any && run.failuresOfConditions.contains(error)
      case (.result, _), (.error, _), (.cancelled, _): false
      }
    expect(isRight, "Q1, Q2: \(name) ended as \(body), but its conditions are \(run.conditions)")
  }

  private enum ConditionResult { case proceeds, skips, fails }

  /// Q1: the combined result of the answers so far; nil if it is not certain yet.
  private func conditionResult(of requiring: Tree.Requiring, _ run: NodeRun) -> ConditionResult? {
    let answers = requiring.conditions.indices.map { run.conditions[$0]?.answer }
    return switch requiring.combination {
    case .any: any(of: answers)
    case .each, .stacked, .all: all(of: answers.map { $0.map(conditionResult) })
    case .firstAndAny:
      answers.isEmpty
        ? .proceeds : all(of: [answers[0].map(conditionResult), any(of: answers)])
    }
  }

  private func conditionResult(_ answer: Entry.ConditionAnswer) -> ConditionResult {
    switch answer {
    case .proceeds: .proceeds
    case .skips: .skips
    case .fails: .fails
    }
  }

  private func all(of conditionResults: [ConditionResult?]) -> ConditionResult? {
    if conditionResults.contains(.fails) { return .fails }
    if conditionResults.contains(nil) { return nil }
    return conditionResults.contains(.skips) ? .skips : .proceeds
  }

  private func any(of answers: [Entry.ConditionAnswer?]) -> ConditionResult? {
    let conditionResults = answers.map { $0.map(conditionResult) }
    if conditionResults.contains(.proceeds) { return .proceeds }
    if conditionResults.contains(nil) { return nil }
    return conditionResults.contains(.skips) ? .skips : .fails
  }

  /// The possible reasons of a skip.
  private func reasons(of run: NodeRun) -> [String] {
    guard case .modified(.requiring(let requiring), _) = run.place.node.kind else { return [] }
    return run.conditions.filter { $0.value.answer == .skips }.keys.map { index in
      let condition = requiring.conditions[index]
      let name = Tree.Condition.name(index, of: run.place.node.id)
      return switch condition.answer {
      case .skip: "of a condition"
      // The name in the reason is the same for a negated condition.
      case .cancellation: "condition '\(name)' stopped without an answer"
      case .yes, .no, .error: "condition '\(condition.isNegated ? "not " : "")\(name)' is not met"
      }
    }
  }
}

/// The state of a condition in a run.
enum ConditionState: Equatable {
  case isAsked
  case answered(Entry.ConditionAnswer)

  var answer: Entry.ConditionAnswer? {
    if case .answered(let answer) = self { answer } else { nil }
  }
}

extension NodeRun {
  /// The errors of the conditions that failed, in the order of the conditions.
  fileprivate var failuresOfConditions: [ShownError] {
    conditions.sorted { $0.key < $1.key }.compactMap { $0.value.answer?.error }
  }
}
