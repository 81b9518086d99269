import CompositeOperations
import CompositeOperationsTestKit

/// A random graph, and how it is run.
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
    /// Whether it cancels itself when its task is cancelled.
    let noticesCancellation: Bool
  }

  enum Entry: Sendable, Equatable {
    case began(Int, saw: [Shown])
    case ended(Int, Shown, isCancelled: Bool)
    case discarded(Int)
    case cancelled
  }

  /// The outcome of a node, as another node or the error of the graph shows it.
  enum Shown: Sendable, Equatable {
    case value(Int)
    case error(Int)
    case cancelled
  }

  let seed: UInt64
  let nodes: [Node]
  let outputs: [Need]
  let mode: FailureMode
  let width: OperationWidth
  /// The number of jobs after which the graph is cancelled from outside; nil for never.
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
    outputs = (0..<chance.number(0...3)).map { _ in
      Need(node: chance.number(0...count - 1), asksForOutcome: chance.percent(25))
    }
    mode = chance.percent(50) ? .runAll : .cancelRemaining
    width = chance.pick([(2, .adaptive), (1, .serial), (1, .limited(to: 2))])
    cancellation = chance.maybe(40) { $0.number(1...count * 4) }
    isObserved = chance.percent(30)
  }

  /// Returns the graph, which returns the results of its outputs.
  func operation(_ log: Log<Entry>) -> OperationGraph<[Shown]> {
    OperationGraph(width: width, onFailure: mode) { graph in
      var made: [GraphNode<Int>] = []
      for (index, node) in nodes.enumerated() {
        let needed = node.needs.map { shown($0, made) }
        made.append(
          graph.add(needingAll: needed, named: "n\(index)") { saw in
            body(index, node, saw, log)
          })
      }
      return outputs.map { shown($0, made) }
    }
  }

  private func shown(_ need: Need, _ made: [GraphNode<Int>]) -> GraphNode<Shown> {
    let node = made[need.node]
    return need.asksForOutcome ? node.outcome.map(Shown.init) : node.map(Shown.value)
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
  /// Runs the graph on one worker, or on all.
  ///
  /// - Returns: The violated rules.
  func findings(onOneWorker: Bool) async -> [String] {
    let log = Log<Entry>()
    let observer = RecordingObserver()
    var environment = OperationEnvironment()
    if isObserved { environment.observers = [observer] }
    let outcome: Outcome<[Shown]>
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
      // On several workers, a node can be cancelled while its start is reported. Its body then does
      // not begin.
      let cancelled = observer.events.count { event in
        if case .ended(.cancelled, lateOutcome: nil) = event.kind {
          event.name.hasPrefix("n")
        } else {
          false
        }
      }
      let most = judge.begun + (onOneWorker ? 0 : cancelled)
      judge.expect(
        (judge.begun...most).contains(told),
        "\(told) starts were reported, and \(judge.begun) nodes began")
    }
    return judge.findings.map { "\($0)\n\(self)\n\(log.entries)\n\(outcome)" }
  }
}
