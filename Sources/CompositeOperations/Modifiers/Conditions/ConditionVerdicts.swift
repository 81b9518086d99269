/// The verdicts on the conditions of a plan so far, and which conditions still matter.
struct ConditionVerdicts: Sendable {
  /// The verdict on a condition. A failure names the conditions that failed instead of holding
  /// their errors, so that each error is either discarded or passed on, once.
  fileprivate enum State: Sendable {
    case proceed
    case skip(Skipped)
    case fail(Failure)
  }

  fileprivate indirect enum Failure: Sendable {
    /// The error of a condition that was evaluated, by its index.
    case own(Int)
    /// One of several conditions had to be met, and all failed.
    case noneMet([Failure])
    /// Several conditions had to be met, and these failed.
    case several([(name: String, failure: Failure)])
  }

  private let plan: ConditionPlan
  private var states: [State?]
  /// How many operands of each condition are undecided.
  private var openOperands: [Int]
  /// How many parents of each condition are undecided. A condition without any no longer matters.
  private var openParents: [Int]
  /// The errors of the conditions that were evaluated and failed.
  private var errors: [Int: any Error] = [:]

  init(_ plan: ConditionPlan) {
    self.plan = plan
    states = Array(repeating: nil, count: plan.nodes.count)
    openOperands = plan.operandCounts
    openParents = plan.parentCounts
    for index in plan.empty where states[index] == nil {
      if case .all = plan.nodes[index].kind {
        _ = settle(index, as: .proceed)
      } else {
        _ = settle(index, as: .fail(.noneMet([])))
      }
    }
  }

  /// Whether the verdict on the operation is certain.
  var isDecided: Bool { states.last.map { $0 != nil } ?? true }

  /// Whether the evaluation of a condition can still change the verdict on the operation.
  func matters(_ index: Int) -> Bool { states[index] == nil && openParents[index] > 0 }

  /// The names of the conditions of the operation that are undecided.
  var undecidedNames: [String] {
    plan.required.filter { states[$0] == nil }.map { plan.nodes[$0].name }
  }

  /// Records the verdict on a condition that was evaluated.
  ///
  /// - Returns: The conditions that no longer matter, including those that need no evaluation.
  mutating func answered(_ index: Int, _ verdict: Verdict) -> [Int] {
    switch verdict {
    case .proceed: return settle(index, as: .proceed)
    case .skip(let skipped): return settle(index, as: .skip(skipped))
    case .fail(let error):
      errors[index] = error
      return settle(index, as: .fail(.own(index)))
    }
  }

  /// - Returns: The conditions that no longer matter.
  private mutating func settle(_ index: Int, as state: State) -> [Int] {
    var settled = [(index, state)]
    var irrelevant: [Int] = []
    while let (index, state) = settled.popLast() {
      if states[index] != nil { continue }
      states[index] = state
      release(index, into: &irrelevant)
      for parent in plan.nodes[index].parents where states[parent] == nil {
        openOperands[parent] -= 1
        if let state = self.state(of: parent, after: state) { settled.append((parent, state)) }
      }
    }
    return irrelevant
  }

  /// Records that a condition no longer needs its operands.
  private mutating func release(_ index: Int, into irrelevant: inout [Int]) {
    var released = [index]
    while let index = released.popLast() {
      for operand in plan.nodes[index].operands {
        openParents[operand] -= 1
        if openParents[operand] > 0 || states[operand] != nil { continue }
        irrelevant.append(operand)
        released.append(operand)
      }
    }
  }

  /// The verdict on a condition after one of its operands has been decided; nil if it is undecided.
  private func state(of index: Int, after operand: State) -> State? {
    let node = plan.nodes[index]
    switch (node.kind, operand) {
    case (.immediate, _), (.operation, _):
      preconditionFailure("condition \(index) has no operands, but is the parent of one")
    case (.not, _): return operand.negated(name: node.name)
    case (.all(_, .cancelRemaining), .fail), (.any, .proceed): return operand
    case (.all(let operands, _), _):
      if openOperands[index] > 0 { return nil }
      let failures = operands.compactMap { operand in
        states[operand]?.failure.map { (plan.nodes[operand].name, $0) }
      }
      if !failures.isEmpty { return .fail(.several(failures)) }
      return firstSkip(of: operands) ?? .proceed
    case (.any(let operands), _):
      if openOperands[index] > 0 { return nil }
      return firstSkip(of: operands)
        ?? .fail(.noneMet(operands.compactMap { states[$0]?.failure }))
    }
  }

  private func firstSkip(of operands: [Int]) -> State? {
    for operand in operands {
      if case .skip(let skipped) = states[operand] { return .skip(skipped) }
    }
    return nil
  }
}

extension ConditionVerdicts.State {
  fileprivate var failure: ConditionVerdicts.Failure? {
    if case .fail(let failure) = self { failure } else { nil }
  }

  /// The verdict on the negation. A condition that stopped without an answer is not met, and
  /// neither is its negation.
  fileprivate func negated(name: String) -> Self {
    switch self {
    case .proceed: .skip(Skipped(notMet: name))
    case .skip(let skipped): skipped.isAnswer ? .proceed : self
    case .fail: self
    }
  }
}

// MARK: The end

extension ConditionVerdicts {
  /// The verdict on the operation, and the errors that are not part of it; nil if it is undecided.
  var end: (verdict: Verdict, unseen: [any Error])? {
    switch states.last ?? .proceed {
    case nil: return nil
    case .proceed: return (.proceed, Array(errors.values))
    case .skip(let skipped): return (.skip(skipped), Array(errors.values))
    case .fail(let failure):
      var counts: [Int: Int] = [:]
      failure.count(&counts)
      let seen = errors.filter { counts[$0.key] != nil }
      // Several errors of the verdict may contain it.
      let shares = Dictionary(
        uniqueKeysWithValues: seen.map { ($0.key, $0.value.shared(among: counts[$0.key] ?? 1)) })
      let unseen = errors.filter { counts[$0.key] == nil }
      return (.fail(failure.error(of: shares)), Array(unseen.values))
    }
  }

  /// The errors of all conditions that failed.
  var allErrors: [any Error] { Array(errors.values) }
}

extension ConditionVerdicts.Failure {
  /// Counts how often the error of each condition is part of the failure.
  fileprivate func count(_ counts: inout [Int: Int]) {
    switch self {
    case .own(let index): counts[index, default: 0] += 1
    case .noneMet(let failures): for failure in failures { failure.count(&counts) }
    case .several(let failures): for (_, failure) in failures { failure.count(&counts) }
    }
  }

  fileprivate func error(of errors: [Int: any Error]) -> any Error {
    switch self {
    case .own(let index):
      guard let error = errors[index] else {
        preconditionFailure("condition \(index) failed without an error")
      }
      return error
    case .noneMet(let failures):
      return NoConditionMetError(errors: failures.map { $0.error(of: errors) })
    case .several(let failures):
      return FailedConditionsError(
        failures: failures.map { ($0.name, $0.failure.error(of: errors)) })
    }
  }
}

/// The result of evaluating a condition.
enum Verdict: Sendable {
  case proceed
  case skip(Skipped)
  case fail(any Error)

  /// - Parameter name: The name of the condition.
  init(_ isMet: Bool, of name: String) {
    self = isMet ? .proceed : .skip(Skipped(notMet: name))
  }

  /// The verdict of a closure.
  ///
  /// - Parameter name: The name of the condition.
  init(asking isMet: () throws -> Bool, of name: @autoclosure () -> String) {
    do {
      self = try isMet() ? .proceed : .skip(Skipped(notMet: name()))
    } catch {
      self.init(throwing: error, of: name())
    }
  }

  /// The verdict of a closure that threw an error.
  ///
  /// - Parameter name: The name of the condition.
  init(throwing error: any Error, of name: String) {
    if let skipped = error as? Skipped {
      self = .skip(skipped)
    } else if error.meansCancellation {
      self = .skip(Skipped(stoppedEarly: name))
    } else {
      self = .fail(error)
    }
  }

  /// The verdict of a run that evaluated a condition.
  ///
  /// - Parameter name: The name of the condition.
  init(_ outcome: Outcome<Verdict>, of name: String) {
    switch outcome {
    case .result(let verdict): self = verdict
    case .error(let error): self = .fail(error)
    case .cancelled: self = .skip(Skipped(stoppedEarly: name))
    }
  }

  var isProceed: Bool { if case .proceed = self { true } else { false } }
}

extension Skipped {
  /// - Parameter name: The condition that is not met.
  init(notMet name: String) { self.init(because: "condition '\(name)' is not met") }

  /// - Parameter name: The condition that stopped without an answer.
  init(stoppedEarly name: String) {
    self.init(because: "condition '\(name)' stopped without an answer", isAnswer: false)
  }
}
