import CompositeOperations
import CompositeOperationsFoundation
import Foundation
import TestSupport

/// Records when nodes began and ended, in order.
final class BridgeLog: Sendable {
  enum Entry: Hashable, Sendable {
    case began(Int)
    case ended(Int)
  }

  private let lock = Lock<[Entry]>([])

  var entries: [Entry] { lock.withLock(\.self) }
  func add(_ entry: Entry) { lock.withLock { $0.append(entry) } }
}

/// Operations of a queue that depend on each other, fail and cancel each other.
///
/// A node cancels only itself, nodes that cannot have begun and nodes that must have finished, so
/// the expected result does not depend on the number of threads.
struct BridgeProgram: Sendable {
  struct Failure: Error {}

  struct Node: Sendable {
    var dependencies: [Int] = []
    var priority = Foundation.Operation.QueuePriority.normal
    var fails = false
    /// The nodes that this node cancels while it runs.
    var cancels: [Int] = []
    var isCancelledBefore = false
  }

  /// How a node ended, as reported to the caller.
  enum Completion: Hashable, Sendable { case success, failure, cancellation }

  /// The state of a node after the program has ended.
  struct Observation: Hashable, Sendable {
    var hasRun: Bool
    var isCancelled: Bool
    var isFinished: Bool
    var completion: Completion
  }

  var nodes: [Node]
  /// The maximum number of nodes that run at once; nil for no limit.
  var width: Int?
  /// The node that cancels all nodes while it runs. All nodes before it have finished by then, and
  /// no node after it has begun.
  var canceller: Int?

  static func random(using random: inout OperationRandomness) -> BridgeProgram {
    var program = BridgeProgram(nodes: [])
    let count = Int.random(in: 1...10, using: &random)
    if Int.random(in: 0..<4, using: &random) == 0 {
      program.canceller = Int.random(in: 0..<count, using: &random)
    }
    program.width = [nil, 1, 2, 3].randomElement(using: &random) ?? nil
    for index in 0..<count {
      var node = Node()
      node.dependencies = (0..<index).filter { other in
        Int.random(in: 0..<3, using: &random) == 0 || [index, other].contains(program.canceller)
      }
      node.priority =
        [.veryLow, .low, .normal, .high, .veryHigh].randomElement(using: &random) ?? .normal
      node.fails = Int.random(in: 0..<4, using: &random) == 0
      node.isCancelledBefore = Int.random(in: 0..<6, using: &random) == 0
      if Int.random(in: 0..<8, using: &random) == 0 { node.cancels.append(index) }
      if let first = node.dependencies.first {
        if Bool.random(using: &random) { program.nodes[first].cancels.append(index) }
        if Int.random(in: 0..<4, using: &random) == 0 { node.cancels.append(first) }
      }
      program.nodes.append(node)
    }
    return program
  }
}

// MARK: - Nodes

extension BridgeProgram {
  /// A node as an operation of a queue.
  struct NodeOperation: Sendable {
    let operation: Foundation.Operation
    let table: Table
    /// How the node ended.
    let completion: @Sendable () -> Completion
  }

  /// Gives nodes access to each other.
  final class Table: Sendable {
    private struct State: Sendable {
      var operations: [Foundation.Operation] = []
      var cancelAll: @Sendable () -> Void = {}
      var failed: Set<Int> = []
    }

    private let state = Lock(State())

    func set(
      _ all: [Foundation.Operation], cancellingBy cancelAll: @escaping @Sendable () -> Void
    ) {
      state.withLock { state in
        state.operations = all
        state.cancelAll = cancelAll
      }
    }

    func cancel(_ node: Int) { state.withLock { $0.operations }[node].cancel() }
    func cancelAll() { state.withLock { $0.cancelAll }() }

    func fail(_ node: Int) { state.withLock { _ = $0.failed.insert(node) } }
    func hasFailed(_ node: Int) -> Bool { state.withLock { $0.failed.contains(node) } }
  }

  /// The body of a node.
  private func body(of node: Int, _ log: BridgeLog, _ table: Table) throws {
    log.add(.began(node))
    for other in nodes[node].cancels { table.cancel(other) }
    if node == canceller { table.cancelAll() }
    log.add(.ended(node))
    if nodes[node].fails { throw Failure() }
  }

  /// Creates a node as a `BlockOperation`.
  func legacy(_ node: Int, _ log: BridgeLog, _ table: Table) -> NodeOperation {
    let operation = BlockOperation()
    operation.addExecutionBlock {
      do { try body(of: node, log, table) } catch { table.fail(node) }
    }
    return NodeOperation(operation: operation, table: table) {
      if operation.isCancelled { return .cancellation }
      return table.hasFailed(node) ? .failure : .success
    }
  }

  /// Creates a node as a `QueueOperation`.
  func composable(_ node: Int, _ log: BridgeLog, _ table: Table) -> NodeOperation {
    let operation = QueueOperation(
      SimpleOperation {
        await Task.yield()
        try body(of: node, log, table)
      })
    return NodeOperation(operation: operation, table: table) {
      operation.outcome.map(Completion.init) ?? .success
    }
  }

  /// Creates all nodes, sets their dependencies and priorities, and applies early cancellations.
  private func prepared(_ make: (Int) -> NodeOperation) -> [NodeOperation] {
    let made = nodes.indices.map(make)
    for (node, one) in zip(nodes, made) {
      for other in node.dependencies { one.operation.addDependency(made[other].operation) }
      one.operation.queuePriority = node.priority
      if node.isCancelledBefore { one.operation.cancel() }
    }
    return made
  }
}

extension BridgeProgram.Completion {
  init(_ outcome: Outcome<Void>) {
    switch outcome {
    case .result: self = .success
    case .error: self = .failure
    case .cancelled: self = .cancellation
    }
  }
}

// MARK: - Running

extension BridgeProgram {
  private func suspendedQueue() -> OperationQueue {
    let queue = OperationQueue()
    if let width { queue.maxConcurrentOperationCount = width }
    queue.isSuspended = true
    return queue
  }

  func runInQueue(
    _ log: BridgeLog, _ make: (Int, BridgeLog, Table) -> NodeOperation
  ) -> [Observation] {
    let queue = suspendedQueue()
    let table = Table()
    let made = prepared { make($0, log, table) }
    let operations = made.map(\.operation)
    table.set(operations) { queue.cancelAllOperations() }
    queue.addOperations(operations, waitUntilFinished: false)
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    // Breaks the reference cycle between the operations and the table.
    table.set([]) {}
    return made.indices.map { node in
      observation(of: operations[node], node, log, completion: made[node].completion())
    }
  }

  /// Runs the nodes as operations of Foundation that are children of a composite. Foundation still
  /// enforces the dependencies.
  ///
  /// - Returns: The states of the nodes, and whether the composite was cancelled.
  func runInComposite(_ log: BridgeLog) async -> (nodes: [Observation], isCancelled: Bool) {
    let queue = suspendedQueue()
    let table = Table()
    let made = prepared { legacy($0, log, table) }
    let operations = made.map(\.operation)
    let children = made.indices.map { node in
      FoundationOperation(in: queue) {
        operations[node]
      } result: { _ in
        if table.hasFailed(node) { throw Failure() }
      }
    }
    let run = ParallelOperation(children, width: .limited(to: 64), onFailure: .runAll)
      .collectingOutcomes().start()
    while queue.operationCount < operations.count { await Task.yield() }
    let rest = operations[(canceller ?? 0)...]
    table.set(operations) {
      run.cancel()
      // Later nodes begin when this one ends, and must be cancelled by then. This one, too: its
      // failure would be its outcome if it ended before the cancellation reached it.
      while rest.contains(where: { !$0.isCancelled }) { sched_yield() }
    }
    queue.isSuspended = false
    let outcomes = await run.outcome
    // A cancelled composite does not wait for operations that had not begun.
    await onNewThread { queue.waitUntilAllOperationsAreFinished() }
    table.set([]) {}
    let observations = made.indices.map { node in
      let completion = outcomes.result.map { Completion($0[node]) } ?? made[node].completion()
      return observation(of: operations[node], node, log, completion: completion)
    }
    return (observations, outcomes.isCancelled)
  }

  private func observation(
    of operation: Foundation.Operation, _ node: Int, _ log: BridgeLog, completion: Completion
  ) -> Observation {
    Observation(
      hasRun: log.entries.contains(.began(node)), isCancelled: operation.isCancelled,
      isFinished: operation.isFinished, completion: completion)
  }
}

// MARK: - Checking

extension BridgeProgram {
  /// Lists the violations of the dependencies and of the width.
  func faults(in log: BridgeLog) -> [String] {
    let entries = log.entries
    var faults: [String] = []
    for (index, node) in nodes.enumerated() {
      let count = entries.count { $0 == .began(index) }
      if count > 1 { faults.append("\(index) has run \(count) times") }
      guard let began = entries.firstIndex(of: .began(index)) else { continue }
      for dependency in node.dependencies {
        guard let ended = entries.firstIndex(of: .ended(dependency)), ended > began else {
          continue
        }
        faults.append("\(index) began before \(dependency) had ended")
      }
    }
    var running = 0
    for entry in entries {
      if case .began = entry { running += 1 } else { running -= 1 }
      if let width, running > width { faults.append("\(running) ran at once") }
    }
    return faults
  }
}
