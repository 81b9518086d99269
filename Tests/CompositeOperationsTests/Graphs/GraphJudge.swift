import CompositeOperations

/// Checks the events of a graph against the rules G1 to G5.
struct GraphJudge {
  let trial: GraphTrial
  let isTotal: Bool
  private(set) var findings: [String] = []
  private var ended: [Int: GraphTrial.Shown] = [:]
  private var running: Set<Int> = []
  private var given: Set<Int> = []
  private var failures: [Int] = []
  private var stops: [Int] = []
  private var discarded: [Int: Int] = [:]
  private var isStopped = false
  private var isCancelled = false
  private(set) var begun = 0

  init(_ trial: GraphTrial, isTotal: Bool) {
    self.trial = trial
    self.isTotal = isTotal
  }

  mutating func expect(_ isRight: Bool, _ rule: String) {
    if !isRight { findings.append(rule) }
  }

  /// Whether the outcome of a node is needed, or the outcome of a node that cannot begin without
  /// it.
  private func isTolerated(_ node: Int) -> Bool {
    trial.outputs.contains { $0.node == node && $0.asksForOutcome }
      || trial.nodes.enumerated().contains { index, other in
        other.needs.contains { $0.node == node && ($0.asksForOutcome || isTolerated(index)) }
      }
  }

  /// Returns the outcome of a node that has ended or cannot begin, as other nodes receive it.
  private func told(of node: Int) -> GraphTrial.Shown {
    if let own = ended[node] { return own }
    let lost = trial.nodes[node].needs.filter { !$0.asksForOutcome }.map { told(of: $0.node) }
    return lost.first { if case .error = $0 { true } else { false } } ?? .cancelled
  }

  mutating func read(_ entry: GraphTrial.Entry) {
    switch entry {
    case .began(let node, let saw):
      begun += 1
      expect(ended[node] == nil && !running.contains(node), "G1: n\(node) ran twice")
      running.insert(node)
      let needs = trial.nodes[node].needs
      expect(saw == needs.map { told(of: $0.node) }, "G1: n\(node) saw \(saw)")
      expect(
        needs.allSatisfy { need in
          if need.asksForOutcome { return true }
          if case .value? = ended[need.node] { return true } else { return false }
        }, "G2: n\(node) began without the results that it needs")
      expect(!isTotal || !isStopped, "G2: n\(node) began after a failure had stopped the graph")
      expect(!isTotal || !isCancelled, "G4: n\(node) began although the graph was cancelled")
      let most = trial.width == .serial ? 1 : trial.width == .limited(to: 2) ? 2 : .max
      expect(running.count <= most, "G5: \(running.count) nodes are in flight")
    case .ended(let node, let shown, let isNodeCancelled):
      running.remove(node)
      if case .value = shown { given.insert(node) }
      ended[node] = isNodeCancelled ? .cancelled : shown
      expect(
        !isNodeCancelled || isStopped || isCancelled, "G4: n\(node) was cancelled without a reason")
      if isNodeCancelled { return }
      switch shown {
      case .value: return
      case .error: failures.append(node)
      case .cancelled: stops.append(node)
      }
      if trial.mode == .cancelRemaining, !isTolerated(node) { isStopped = true }
    case .discarded(let node): discarded[node, default: 0] += 1
    case .cancelled: isCancelled = true
    }
  }

  mutating func finish(_ outcome: Outcome<[GraphTrial.Shown]>) {
    expect(running.isEmpty, "G4: \(running) never ended")
    let lost = (failures + stops).filter { !isTolerated($0) }
    let hasOutputs = trial.outputs.allSatisfy { output in
      if output.asksForOutcome { return true }
      if case .value? = ended[output.node] { return true } else { return false }
    }
    let isComplete = lost.isEmpty && hasOutputs
    switch outcome {
    case .result(let values):
      let expected = trial.outputs.map { told(of: $0.node) }
      expect(isComplete && values == expected, "G1: \(values) of \(expected)")
    case .error(let error):
      let error = error as? OperationGraphError
      expect(!isComplete, "G2: the graph failed, and no result was missing")
      let shown = error?.failures.map(\.index) ?? []
      expect(
        isTotal ? shown == failures : Set(shown).isSubset(of: failures), "G2: \(failures) failed")
      // On several workers, a node that failed can be cancelled by another failure before it ends.
      let isExact = isTotal || trial.mode == .runAll
      expect(!isExact || shown.count == failures.count, "G2: \(failures) failed")
      expect(
        !isExact || error?.consequences.map(\.index) == consequences,
        "G2: \(consequences) did not begin")
      expect(!isExact || isToBlame, "G2: the graph failed without an unhandled failure")
    case .cancelled:
      // As above: a node that failed can have been cancelled by a node that cancelled itself.
      let mayHideFailure = !isTotal && trial.mode == .cancelRemaining && !stops.isEmpty
      expect(
        isCancelled || !isComplete && (!isToBlame || mayHideFailure),
        "G4: the graph was cancelled without a reason")
    }
    if !isStopped, !isCancelled {
      for (index, node) in trial.nodes.enumerated() where ended[index] == nil {
        let couldBegin = node.needs.allSatisfy { need in
          if need.asksForOutcome { return true }
          if case .value? = ended[need.node] { return true } else { return false }
        }
        expect(!couldBegin, "G1: n\(index) never began")
      }
    }
    mustBeGivenUpOnce(outcome)
  }

  /// Whether a node failed and no other node needs its outcome, or its failure prevents an output.
  private var isToBlame: Bool {
    var blamed = Set(failures)
    for (index, node) in trial.nodes.enumerated() where ended[index] == nil {
      if node.needs.contains(where: { !$0.asksForOutcome && blamed.contains($0.node) }) {
        blamed.insert(index)
      }
    }
    return failures.contains { !isTolerated($0) }
      || trial.outputs.contains { !$0.asksForOutcome && blamed.contains($0.node) }
  }

  private var consequences: [Int] {
    var lost = Set(failures + stops)
    return trial.nodes.indices.filter { index in
      guard ended[index] == nil else { return false }
      let isLost = trial.nodes[index].needs.contains {
        !$0.asksForOutcome && lost.contains($0.node)
      }
      if isLost { lost.insert(index) }
      return isLost
    }
  }

  /// O3: a value is discarded if no node has received it and no outcome contains it.
  private mutating func mustBeGivenUpOnce(_ outcome: Outcome<[GraphTrial.Shown]>) {
    for node in given {
      let times = discarded[node, default: 0]
      let isInTime = if case .value? = ended[node] { true } else { false }
      let isSeen = trial.nodes.enumerated().contains { index, other in
        ended[index] != nil && other.needs.contains { $0.node == node }
      }
      let expected: Int? =
        switch outcome {
        // On several workers, a node can be cancelled between its return and the record of its
        // outcome.
        case _ where !isTotal && isStopped: nil
        case _ where !isInTime: 1
        case .result: trial.outputs.contains { $0.node == node } || isSeen ? 0 : 1
        case .error: 0
        // A value that another node has received belongs to that node.
        case .cancelled: isSeen ? 0 : 1
        }
      expect(
        times <= 1 && (expected == nil || expected == times),
        "O3: the value of n\(node) was discarded \(times) times")
    }
  }
}
