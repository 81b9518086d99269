/// What a run does with each step, as far as it is known before the run.
struct FlowPlan: Sendable {
  /// The decisions by the name of the step.
  private(set) var decisions: [String: FlowDecision] = [:]
  /// The states of all steps before the run.
  private var states: [String: FlowStepState] = [:]
  /// The values of the children of steps that do not run.
  private(set) var children: [String: [String]] = [:]
  /// The steps that have succeeded in this run, and run again because their definition changed.
  private(set) var redefined: [String] = []

  /// - Parameter selection: The names of the steps that run in any case, while no others run; nil
  ///   for all steps that have to run.
  init(_ checker: FlowChecker, selection: Set<String>?) throws {
    decisions.reserveCapacity(checker.file.steps.count)
    states.reserveCapacity(checker.file.steps.count)
    // The steps that run and can change an output, themselves or by the steps that they need.
    var changing: Set<String> = []
    for index in checker.file.order {
      let step = checker.file.steps[index]
      var planned: PlannedStep
      do {
        planned = try PlannedStep(step, checker, states, decisions, changing, children)
      } catch {
        throw FlowFailure.other("step '\(step.name)': \(FlowFailure(error))")
      }
      if let selection {
        planned.decision = selection.contains(step.name) ? .runs(.selected) : .excluded
      }
      if !planned.decision.isSettled,
        !step.outputs.isEmpty || step.neededNames.contains(where: changing.contains)
      {
        changing.insert(step.name)
      }
      states[step.name] = planned.state
      decisions[step.name] = planned.decision
      if let values = planned.values { children[step.name] = values }
      if planned.isRedefined { redefined.append(step.name) }
    }
  }

  /// Returns the state of a step that does not run; nil for a step that runs.
  func state(of step: String) -> FlowStepState? {
    decisions[step]?.isSettled == true ? states[step] : nil
  }

  /// The number of steps with a decision.
  func count(_ isCounted: (FlowDecision) -> Bool) -> Int {
    decisions.values.count(where: isCounted)
  }
}

/// A step during the planning.
private struct PlannedStep {
  var decision: FlowDecision
  let state: FlowStepState
  /// The values of the children, if they are known.
  let values: [String]?
  let isRedefined: Bool

  init(
    _ step: FlowStep, _ checker: FlowChecker, _ states: [String: FlowStepState],
    _ decisions: [String: FlowDecision], _ changing: Set<String>, _ children: [String: [String]]
  ) throws {
    let source: String? = if case .sameAs(let other) = step.each { other.name } else { nil }
    let needs = step.neededNames
    let pending = needs.first { decisions[$0].map { !$0.isSettled } ?? false }
    let needState = FlowStepState(needs.lazy.filter { $0 != source }.compactMap { states[$0] })
    let predecessor = step.after.first { decisions[$0.name]?.isSettled == false }?.name
    let changer = needs.max { states[$0]?.changed ?? 0 < states[$1]?.changed ?? 0 }
    let values = try Self.values(of: step, checker, pending, states, children)
    self.values = values
    guard step.each == nil || values != nil else {
      decision = .runs(.valuesUnknown(pending ?? source ?? step.name))
      state = FlowStepState([needState])
      isRedefined = false
      return
    }
    var decision: FlowDecision?
    var childStates: [FlowStepState] = []
    var isRedefined = false
    for unit in step.units(values) {
      var unitNeeds = needState
      if let source, let each = unit.each {
        let stamp = checker.stamps["\(source)[\(each)]"]
        let sourceState = stamp.map {
          FlowStepState($0, isCurrent: states[source]?.isCurrent ?? false)
        }
        unitNeeds = FlowStepState([needState, sourceState].compactMap(\.self))
      }
      let isCurrent = checker.isCurrent(unit, needs: unitNeeds)
      var own = try checker.decision(
        for: unit, needs: unitNeeds, changer: changer, predecessor: predecessor)
      if own == .upToDate, let changing = needs.first(where: changing.contains) {
        own = .mayRun(after: changing)
      }
      decision = decision?.joined(with: own, of: unit) ?? own.first(of: unit)
      isRedefined =
        isRedefined || checker.hasSucceededInRun(unit) && !checker.hasSameDefinition(unit)
      childStates.append(
        checker.stamps[unit.name].map { FlowStepState($0, isCurrent: isCurrent) }
          ?? FlowStepState().notCurrent)
    }
    self.isRedefined = isRedefined
    if step.each != nil {
      // The children of a list that may change are decided when the step begins.
      self.decision = decision ?? (pending.map { .mayRun(after: $0) } ?? .upToDate)
      state = FlowStepState([needState] + childStates)
    } else {
      self.decision = decision ?? .upToDate
      state = childStates.first ?? FlowStepState()
    }
  }

  /// Returns the values of the children; nil if they are unknown before the run, or for a step
  /// without children.
  private static func values(
    of step: FlowStep, _ checker: FlowChecker, _ pending: String?,
    _ states: [String: FlowStepState], _ children: [String: [String]]
  ) throws -> [String]? {
    switch step.each {
    case nil: nil
    case .list(let templates): templates.map { $0.text(checker.values) }
    case .glob(let template):
      pending == nil
        ? try GlobPattern.files(
          template, checker.values,
          in: checker.folder.workingFolder(step.directory?.text(checker.values))) : nil
    case .linesOf(let source): pending == nil ? states[source.name]?.lines : nil
    case .sameAs(let source): children[source.name]
    }
  }
}

extension FlowStepState {
  fileprivate var notCurrent: FlowStepState {
    var copy = self
    copy.isCurrent = false
    return copy
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
