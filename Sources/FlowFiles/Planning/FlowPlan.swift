import CompositeOperations

/// What a run does with each step, as far as it is known before the run.
///
/// It follows from the file, the records and a view of the files, and from nothing else.
package struct FlowPlan: Sendable {
  /// The decisions by the name of the step.
  package private(set) var decisions: [String: FlowDecision] = [:]
  /// The products of the steps before the run.
  private var states: [String: FlowStepState] = [:]
  /// The values of the children of steps that are known before the run.
  private(set) var children: [String: [String]] = [:]
  /// The steps that have succeeded in this run, and run again because their definition changed.
  private(set) var redefined: [String] = []

  package init(_ checker: FlowChecker, selection: FlowSelection.Steps) throws {
    decisions.reserveCapacity(checker.file.steps.count)
    states.reserveCapacity(checker.file.steps.count)
    for index in checker.file.order {
      let step = checker.file.steps[index]
      let planned: PlannedStep
      do { planned = try PlannedStep(step, checker, self) } catch {
        if error.meansCancellation { throw error }
        throw FlowFailure.other("step '\(step.name)': \(FlowFailure(error))")
      }
      decisions[step.name] =
        !selection.included.contains(step.name)
        ? .excluded
        : selection.forced.contains(step.name) && !step.isGroup
          ? .runs(.selected) : planned.decision
      states[step.name] = planned.state
      if let values = planned.values { children[step.name] = values }
      if planned.isRedefined { redefined.append(step.name) }
    }
  }

  /// Returns what a step that does not run has made; nil for a step that runs.
  func state(of step: String) -> FlowStepState? {
    decisions[step]?.isSettled == true ? states[step] : nil
  }

  /// The units with `compare: content` of the steps that are current.
  func currentUnits(_ file: FlowFile) -> [FlowUnit] {
    file.steps.flatMap { step -> [FlowUnit] in
      if step.comparison == .stamp { return [] }
      switch decisions[step.name] {
      case .done, .upToDate: return step.units(children[step.name])
      case .runs, .mayRun, .excluded, nil: return []
      }
    }
  }

  /// The number of steps with a decision.
  func count(_ isCounted: (FlowDecision) -> Bool) -> Int {
    decisions.values.count(where: isCounted)
  }

  /// The name of a step that runs, and after whose end another one runs.
  func predecessor(of step: FlowStep) -> String? { step.after.first { runs($0.name) }?.name }

  private func runs(_ name: String) -> Bool { decisions[name]?.isSettled == false }

  /// Why a step runs that needs steps which run; nil if it needs none of them.
  fileprivate func decisionByNeeds(of step: FlowStep, _ file: FlowFile) -> FlowDecision? {
    let pending = step.usedNames.filter(runs)
    let certain = step.neededNames.filter(runs).first { name in
      guard case .runs = decisions[name], let need = file.step(named: name) else { return false }
      return need.outputs.isEmpty && need.each == nil
    }
    return certain.map { .runs(.needRuns($0)) } ?? pending.first.map { .mayRun(after: $0) }
  }

  /// The name of a needed step that runs.
  fileprivate func pendingNeed(of step: FlowStep) -> String? { step.neededNames.first(where: runs) }

  fileprivate func made(by name: String) -> FlowMade? { states[name]?.made }
}

/// A step during the planning.
private struct PlannedStep {
  let decision: FlowDecision
  let state: FlowStepState
  /// The values of the children, if they are known.
  var values: [String]?
  var isRedefined = false

  init(_ step: FlowStep, _ checker: FlowChecker, _ plan: FlowPlan) throws {
    let byNeeds = plan.decisionByNeeds(of: step, checker.file)
    let made = step.usedNames.map { ($0, plan.made(by: $0) ?? FlowMade(number: 0)) }
    if step.isGroup {
      decision = plan.pendingNeed(of: step).map { .mayRun(after: $0) } ?? .upToDate
      state = FlowStepState(FlowMade(made.map { (name: $0, made: $1) }))
      return
    }
    let source: String? = if case .sameAs(let other) = step.each { other.name } else { nil }
    values = try Self.values(of: step, checker, plan, isPending: byNeeds != nil)
    guard step.each == nil || values != nil else {
      decision = .runs(
        .valuesUnknown(plan.pendingNeed(of: step) ?? step.each?.reference?.name ?? step.name))
      state = FlowStepState(FlowMade(number: 0))
      return
    }
    var needs = Dictionary(made, uniquingKeysWith: { $1 })
    let predecessor = plan.predecessor(of: step)
    var joined: FlowDecision?
    var members: [(name: String, made: FlowMade)] = []
    for unit in step.units(values) {
      let record = checker.record(of: unit)
      if let source, let each = unit.each {
        needs[source] = FlowMade(
          number: checker.records[ExactText("\(source)[\(each)]")]?.made ?? 0)
      }
      var own = try checker.decision(for: unit, needs: FlowUse(needs), predecessor: predecessor)
      if own.isSettled, let byNeeds { own = byNeeds }
      joined = joined?.joined(with: own, of: unit) ?? own.first(of: unit)
      isRedefined =
        isRedefined || checker.hasSucceededInRun(unit) && !checker.hasSameDefinition(unit)
      members.append((unit.name, FlowMade(number: record?.made ?? 0)))
    }
    // The children of a list that may change are decided when the step begins.
    decision = joined ?? byNeeds ?? .upToDate
    state =
      step.each == nil
      ? FlowStepState(checker.records[ExactText(step.name)]) : FlowStepState(FlowMade(members))
  }

  /// Returns the values of the children; nil if they are unknown before the run, or for a step
  /// without children.
  ///
  /// - Parameter isPending: Whether a step that it needs runs.
  private static func values(
    of step: FlowStep, _ checker: FlowChecker, _ plan: FlowPlan, isPending: Bool
  ) throws -> [String]? {
    switch step.each {
    case nil, .list, .matrix: try checker.values(of: step)
    case .glob: isPending ? nil : try checker.values(of: step)
    // An error is reported when the step begins.
    case .rowsOfFile: isPending ? nil : try? checker.values(of: step)
    case .linesOf(let source), .rowsOf(let source): plan.state(of: source.name)?.lines
    case .sameAs(let source): plan.children[source.name]
    }
  }
}

extension FlowDecision {
  /// The decision for a step whose first child has this decision.
  fileprivate func first(of unit: FlowUnit) -> FlowDecision {
    if unit.each != nil, case .runs(let reason) = self {
      .runs(.child(unit.name, reason))
    } else {
      self
    }
  }

  /// The decision for a step with one more child.
  fileprivate func joined(with other: FlowDecision, of unit: FlowUnit) -> FlowDecision {
    switch (self, other) {
    case (.runs, _): self
    case (_, .runs): other.first(of: unit)
    case (.mayRun, _): self
    case (_, .mayRun): other
    case (.done, .done): .done
    case (.done, _), (.upToDate, _), (.excluded, _): .upToDate
    }
  }
}
