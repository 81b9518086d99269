import CompositeOperations
import CompositeOperationsFoundation
import CompositeOperationsTestKit
import Foundation
import Testing

/// Random programs of dependencies, failures and cancellations, run by Foundation alone and through both
/// bridges.
@Suite struct BridgeProgramTests {
  @Test func `a queue sees no difference between its own operations and composable ones`()
    async throws
  {
    try await compare { program, log in
      await aside { program.runInQueue(log) { program.composable($0, log) } }
    }
  }

  @Test func `a composite sees what a queue sees`() async throws {
    try await compare { program, log in await program.runInComposite(log) }
  }

  @Test func `a queue may have some of each`() async throws {
    try await compare { program, log in
      await aside {
        program.runInQueue(log) { node in
          node.isMultiple(of: 2) ? program.composable(node, log) : program.legacy(node, log)
        }
      }
    }
  }

  /// Compares with Foundation alone.
  private func compare(
    _ run: (BridgeProgram, BridgeLog) async -> [BridgeProgram.Observation]
  ) async throws {
    let seed = UInt64.random(in: 0..<UInt64.max)
    var random = OperationRandomness.seeded(seed)
    for number in 0..<300 {
      let program = BridgeProgram.random(using: &random)
      let (plain, bridged) = (BridgeLog(), BridgeLog())
      let expected = await aside { program.runInQueue(plain) { program.legacy($0, plain) } }
      let seen = await run(program, bridged)
      let comment = Comment(rawValue: "program \(number) of seed \(seed): \(program)")
      try #require(seen == expected, comment)
      try #require(program.faults(in: plain) == [], comment)
      try #require(program.faults(in: bridged) == [], comment)
    }
  }
}

/// What nodes did, in the order in which they did it.
final class BridgeLog: Sendable {
  enum Entry: Hashable, Sendable {
    case began(Int)
    case ended(Int)
  }

  private let lock = Lock<[Entry]>([])

  var entries: [Entry] { lock.withLock(\.self) }
  func add(_ entry: Entry) { lock.withLock { $0.append(entry) } }
}

struct BridgeProgram: Sendable {
  struct Failure: Error {}

  struct Node: Sendable {
    var dependencies: [Int] = []
    var fails = false
    /// One that depends on it, so that it has certainly not begun.
    var cancels: Int?
    var isCancelledBefore = false
  }

  /// What can be said of a node when all is over.
  struct Observation: Hashable, Sendable {
    var hasRun: Bool
    var isCancelled: Bool
    var isFinished: Bool
  }

  var nodes: [Node]

  static func random(using random: inout OperationRandomness) -> BridgeProgram {
    var nodes: [Node] = []
    for index in 0..<Int.random(in: 1...10, using: &random) {
      var node = Node()
      node.dependencies = (0..<index).filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
      node.fails = Int.random(in: 0..<4, using: &random) == 0
      node.isCancelledBefore = Int.random(in: 0..<6, using: &random) == 0
      if let first = node.dependencies.first, Bool.random(using: &random) {
        nodes[first].cancels = index
      }
      nodes.append(node)
    }
    return BridgeProgram(nodes: nodes)
  }

  // MARK: Running

  /// What a node does.
  private func body(of node: Int, _ log: BridgeLog, cancel: (Int) -> Void) throws {
    log.add(.began(node))
    if let other = nodes[node].cancels { cancel(other) }
    log.add(.ended(node))
    if nodes[node].fails { throw Failure() }
  }

  func legacy(_ node: Int, _ log: BridgeLog) -> NodeOperation {
    let operation = BlockOperation()
    let table = NodeOperation.Table()
    operation.addExecutionBlock { try? body(of: node, log) { table.cancel($0) } }
    return NodeOperation(operation, table)
  }

  func composable(_ node: Int, _ log: BridgeLog) -> NodeOperation {
    let table = NodeOperation.Table()
    let operation = QueueOperation(
      SimpleOperation {
        await Task.yield()
        try body(of: node, log) { table.cancel($0) }
      })
    return NodeOperation(operation, table)
  }

  /// One of a program, and how it reaches the others.
  struct NodeOperation: Sendable {
    final class Table: Sendable {
      private let operations = Lock<[Foundation.Operation]>([])

      func set(_ all: [Foundation.Operation]) { operations.withLock { $0 = all } }
      func cancel(_ node: Int) { operations.withLock(\.self)[node].cancel() }
    }

    let operation: Foundation.Operation
    let table: Table

    init(_ operation: Foundation.Operation, _ table: Table) {
      self.operation = operation
      self.table = table
    }
  }

  private func prepared(_ make: (Int) -> NodeOperation) -> [Foundation.Operation] {
    let made = nodes.indices.map(make)
    let operations = made.map(\.operation)
    for node in made { node.table.set(operations) }
    for (node, operation) in zip(nodes, operations) {
      for dependency in node.dependencies { operation.addDependency(operations[dependency]) }
      if node.isCancelledBefore { operation.cancel() }
    }
    return operations
  }

  func runInQueue(_ log: BridgeLog, _ make: (Int) -> NodeOperation) -> [Observation] {
    let queue = OperationQueue()
    let operations = prepared(make)
    queue.addOperations(operations, waitUntilFinished: true)
    return observations(of: operations, log)
  }

  /// With operations of Foundation as children of a composite; dependencies stay those of Foundation.
  func runInComposite(_ log: BridgeLog) async -> [Observation] {
    let operations = prepared { legacy($0, log) }
    let children = operations.map { operation in FoundationOperation { operation } }
    _ = await ParallelOperation(children, onFailure: .runAll).run()
    return observations(of: operations, log)
  }

  private func observations(
    of operations: [Foundation.Operation], _ log: BridgeLog
  ) -> [Observation] {
    let ran = Set(log.entries)
    return operations.indices.map { node in
      Observation(
        hasRun: ran.contains(.began(node)), isCancelled: operations[node].isCancelled,
        isFinished: operations[node].isFinished)
    }
  }

  // MARK: Judging

  /// What contradicts the dependencies.
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
    return faults
  }
}
