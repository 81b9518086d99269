import CompositeOperations
import CompositeOperationsTestKit

/// A random graph, how it is run, and what the rules say of what happened.
struct GraphTrial: Sendable {
  struct Need: Sendable {
    let node: Int
    let asksForOutcome: Bool
  }

  enum End: Sendable { case value, error, cancellation }

  struct Node: Sendable {
    let needs: [Need]
    let end: End
    let turns: Int
    /// Whether it stops when it sees that it is cancelled.
    let noticesCancellation: Bool
  }

  enum Entry: Sendable, Equatable {
    case began(Int, saw: [Shown])
    case ended(Int, Shown, isCancelled: Bool)
    case discarded(Int)
    case cancelled
  }

  /// How a node ended, as another one or the graph's error shows it.
  enum Shown: Sendable, Equatable {
    case value(Int)
    case error(Int)
    case cancelled
  }

  let seed: UInt64
  let nodes: [Node]
  let outputs: [Int]
  let mode: FailureMode
  let width: OperationWidth
  /// After how many jobs it is cancelled from outside.
  let cancellation: Int?
  let isObserved: Bool

  init(seed: UInt64) {
    self.seed = seed
    var chance = Chance(seed: seed)
    let count = chance.number(1...14)
    let isSafe = chance.percent(30)
    nodes = (0..<count).map { node in
      let needs = (0..<chance.number(0...3)).compactMap { _ in
        node == 0
          ? nil : Need(node: chance.number(0...node - 1), asksForOutcome: chance.percent(25))
      }
      let end: End =
        isSafe ? .value : chance.pick([(80, .value), (14, .error), (6, .cancellation)])
      return Node(
        needs: needs, end: end, turns: chance.number(0...3),
        noticesCancellation: chance.percent(50))
    }
    outputs = (0..<chance.number(0...3)).map { _ in chance.number(0...count - 1) }
    mode = chance.percent(50) ? .runAll : .cancelRemaining
    width = chance.pick([(2, .adaptive), (1, .serial), (1, .limited(to: 2))])
    cancellation = chance.maybe(40) { $0.number(1...count * 4) }
    isObserved = chance.percent(30)
  }

  /// The graph, which gives the results of its outputs.
  func operation(_ log: Log<Entry>) -> OperationGraph<[Int]> {
    OperationGraph(width: width, onFailure: mode) { graph in
      var made: [GraphNode<Int>] = []
      for (index, node) in nodes.enumerated() {
        let needed = node.needs.map { need in
          need.asksForOutcome
            ? shown(made[need.node].outcome, &graph) : shown(made[need.node], &graph)
        }
        made.append(
          graph.add(needingAll: needed, named: "n\(index)") { saw in
            body(index, node, saw, log)
          })
      }
      return outputs.map { made[$0] }
    }
  }

  private func shown(
    _ node: GraphNode<Outcome<Int>>, _ graph: inout GraphBuilder
  ) -> GraphNode<Shown> { node.map(Shown.init) }

  private func shown(_ node: GraphNode<Int>, _ graph: inout GraphBuilder) -> GraphNode<Shown> {
    node.map(Shown.value)
  }

  private func body(
    _ index: Int, _ node: Node, _ saw: [Shown], _ log: Log<Entry>
  ) -> some ComposableOperation<Int> {
    SimpleOperation {
      log.add(.began(index, saw: saw))
      var end = node.end
      for _ in 0..<node.turns {
        await Task.yield()
        if Task.isCancelled, node.noticesCancellation {
          end = .cancellation
          break
        }
      }
      let shown: Shown =
        switch end {
        case .value: .value(index)
        case .error: .error(index)
        case .cancellation: .cancelled
        }
      log.add { .ended(index, shown, isCancelled: Task.isCancelled) }
      switch end {
      case .value: return index
      case .error: throw NodeError(node: index)
      case .cancellation: throw CancellationError()
      }
    }.discarding { log.add(.discarded($0)) }
  }
}

struct NodeError: Error {
  let node: Int
}

extension GraphTrial.Shown {
  init(_ outcome: Outcome<Int>) {
    switch outcome {
    case .result(let value): self = .value(value)
    case .error(let error): self = .error((error as? NodeError)?.node ?? -1)
    case .cancelled: self = .cancelled
    }
  }
}

extension GraphTrial {
  /// Runs it on one worker, or on all.
  ///
  /// - Returns: What the rules do not allow.
  func findings(onOneWorker: Bool) async -> [String] {
    let log = Log<Entry>()
    let observer = RecordingObserver()
    var environment = OperationEnvironment()
    if isObserved { environment.observers = [observer] }
    let outcome: Outcome<[Int]>
    if onOneWorker {
      let executor = SeededExecutor(seed: seed)
      environment.executor = executor
      let run = operation(log).start(in: environment)
      executor.drain { job in
        guard job == cancellation else { return }
        run.cancel()
        log.add(.cancelled)
      }
      outcome = await run.outcome
    } else {
      outcome = await operation(log).run(in: environment)
    }
    var judge = GraphJudge(self, isTotal: onOneWorker)
    for entry in log.entries { judge.read(entry) }
    judge.finish(outcome)
    if isObserved {
      let told = observer.events.count { event in
        if case .started = event.kind, event.name.hasPrefix("n") { true } else { false }
      }
      judge.expect(told == judge.begun, "\(told) beginnings were told of, and \(judge.begun) began")
    }
    return judge.findings.map { "\($0)\n\(self)\n\(log.entries)\n\(outcome)" }
  }
}

/// Judges what happened in a graph by the rules G1 to G5.
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

  private func isTolerated(_ node: Int) -> Bool {
    trial.nodes.contains { $0.needs.contains { $0.node == node && $0.asksForOutcome } }
  }

  mutating func read(_ entry: GraphTrial.Entry) {
    switch entry {
    case .began(let node, let saw):
      begun += 1
      expect(ended[node] == nil && !running.contains(node), "G1: n\(node) ran twice")
      running.insert(node)
      let needs = trial.nodes[node].needs
      expect(saw == needs.map { ended[$0.node] ?? .cancelled }, "G1: n\(node) saw \(saw)")
      expect(
        needs.allSatisfy { need in
          if need.asksForOutcome { return true }
          if case .value? = ended[need.node] { return true } else { return false }
        }, "G2: n\(node) began, and what it needs gave no result")
      expect(!isTotal || !isStopped, "G2: n\(node) began when a failure had stopped everything")
      expect(!isTotal || !isCancelled, "G4: n\(node) began although the graph was cancelled")
      let most = trial.width == .serial ? 1 : trial.width == .limited(to: 2) ? 2 : .max
      expect(running.count <= most, "G5: \(running.count) nodes are in flight")
    case .ended(let node, let shown, let isNodeCancelled):
      running.remove(node)
      if case .value = shown { given.insert(node) }
      ended[node] = isNodeCancelled ? .cancelled : shown
      expect(!isNodeCancelled || isStopped || isCancelled, "G4: n\(node) was cancelled for nothing")
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

  mutating func finish(_ outcome: Outcome<[Int]>) {
    expect(running.isEmpty, "G4: \(running) never ended")
    let lost = (failures + stops).filter { !isTolerated($0) }
    let hasOutputs = trial.outputs.allSatisfy { output in
      if case .value? = ended[output] { true } else { false }
    }
    let isComplete = lost.isEmpty && hasOutputs
    switch outcome {
    case .result(let values):
      expect(isComplete && values == trial.outputs, "G1: \(values) of \(trial.outputs)")
    case .error(let error):
      let error = error as? OperationGraphError
      expect(!isComplete, "G2: it failed, and nothing was missing")
      let shown = error?.failures.map(\.index) ?? []
      expect(
        isTotal ? shown == failures : Set(shown).isSubset(of: failures), "G2: \(failures) failed")
      // With several workers one that failed may be cancelled a moment later by another that did.
      let isExact = isTotal || trial.mode == .runAll
      expect(!isExact || shown.count == failures.count, "G2: \(failures) failed")
      expect(
        !isExact || error?.consequences.map(\.index) == consequences,
        "G2: \(consequences) did not begin")
      expect(!failures.isEmpty, "G2: it failed, and no node did")
    case .cancelled:
      // As above: one that failed may have been cancelled by one that stopped by itself.
      let mayHideFailure = !isTotal && trial.mode == .cancelRemaining && !stops.isEmpty
      expect(
        isCancelled || !isComplete && (failures.isEmpty || mayHideFailure),
        "G4: it was cancelled for nothing")
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

  /// O3: a value is given up if nobody has seen it and nobody will.
  private mutating func mustBeGivenUpOnce(_ outcome: Outcome<[Int]>) {
    for node in given {
      let times = discarded[node, default: 0]
      let isInTime = if case .value? = ended[node] { true } else { false }
      let isSeen = trial.nodes.enumerated().contains { index, other in
        ended[index] != nil && other.needs.contains { $0.node == node }
      }
      let expected: Int? =
        switch outcome {
        // With several workers one that came in time may be cancelled before that is noted.
        case _ where !isTotal && isStopped: nil
        case _ where !isInTime: 1
        case .result: trial.outputs.contains(node) || isSeen ? 0 : 1
        case .error: 0
        // What others have seen is theirs; the evidence of a cancelled graph is given up as a whole.
        case .cancelled: isSeen ? nil : 1
        }
      expect(
        times <= 1 && (expected == nil || expected == times),
        "O3: the value of n\(node) was given up \(times) times")
    }
  }
}
