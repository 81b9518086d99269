import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite struct GraphTests {
  @Test(arguments: Setting.all)
  func `G1: a node begins when all nodes that it needs have results, and receives these`(
    setting: Setting
  ) async throws {
    let ended = Log<String>()
    let graph = OperationGraph { graph in
      @Sendable func giving(_ value: Int, _ name: String) -> SimpleOperation<Int> {
        SimpleOperation {
          await setting.pause()
          ended.add(name)
          return value
        }
      }
      let one = graph.add(giving(1, "one"))
      let text = graph.add(setting.giving("two"))
      let sum = graph.add(needing: one, text) { one, text in giving(one + text.count, "sum") }
      let list = graph.add(needingAll: [one, sum, one]) { values in
        giving(values.reduce(0) { $0 * 2 + $1 }, "list")
      }
      return graph.add(needing: sum, list, text) { sum, list, text in
        giving(sum * 100 + list, text)
      }
    }
    for _ in 0..<2 {
      let outcome = try await setting.run { await graph.run() }
      #expect(outcome.result == 413)
    }
    #expect(ended.entries.count == 8)
    #expect(ended.entries.last == "two")
  }

  @Test func `G1: a graph returns the results of one node, of several, of a list or of none`()
    async throws
  {
    let pair = OperationGraph { graph in
      (graph.add(SimpleOperation { 1 }), graph.add(SimpleOperation { "a" }))
    }
    #expect(try await pair.run().get() == (1, "a"))
    let list = OperationGraph { graph in
      (0..<5).map { number in graph.add(SimpleOperation { number }) }
    }
    #expect(try await list.run().get() == [0, 1, 2, 3, 4])
    let ran = Log<Int>()
    let none = OperationGraph { graph in
      graph.add(SimpleOperation { ran.add(1) })
    }
    try await none.run().get()
    #expect(ran.count == 1)
    try await OperationGraph(giving: Void.self) { _ in }.run().get()
    let both = OperationGraph(giving: Void.self) { graph in
      let node = graph.add(SimpleOperation { 2 })
      graph.add(needing: node) { number in SimpleOperation { ran.add(number) } }
    }
    try await both.run().get()
    #expect(ran.entries == [1, 2])
    let four = OperationGraph { graph in
      let node = graph.add(SimpleOperation { 1 })
      return (node, node.map { "\($0)" }, node.outcome, graph.add(SimpleOperation { true }))
    }
    let (one, text, outcome, isTrue) = try await four.run().get()
    #expect((one, text, outcome.result, isTrue) == (1, "1", 1, true))
  }

  @Test(arguments: Setting.all)
  func `G2: nodes that need a failed node never begin, and by default the others are cancelled`(
    setting: Setting
  ) async throws {
    for mode in [FailureMode.cancelRemaining, .runAll] {
      let began = Log<String>()
      let graph = OperationGraph(onFailure: mode) { graph in
        @Sendable func noting(_ name: String) -> SimpleOperation<String> {
          SimpleOperation {
            began.add(name)
            await setting.pause()
            return name
          }
        }
        let bad = graph.add(setting.failing().named("bad"))
        let needing = graph.add(needing: bad, named: "needing") { _ in noting("needing") }
        graph.add(needing: needing, named: "far") { _ in noting("far") }
        let good = graph.add(noting("good"))
        return graph.add(needing: good, named: "after") { _ in noting("after") }
      }
      let outcome = try await setting.run { await graph.run() }
      let error = try #require(outcome.error as? OperationGraphError)
      #expect(error.failures.map(\.name) == ["bad"])
      #expect(error.consequences.map(\.name) == ["needing", "far"])
      #expect("\(error)" == "[0] bad: failed\ndid not begin: needing, far")
      #expect(!began.entries.contains("needing") && !began.entries.contains("far"))
      if mode == .runAll {
        #expect(began.entries == ["good", "after"])
        #expect(error.nodes[4].outcome.result as? String == "after")
      }
    }
  }

  @Test func `G2: the error names the first of many nodes that did not begin, and counts them`()
    async throws
  {
    let names = NameCount()
    let graph = OperationGraph(giving: Void.self, width: .serial) { graph in
      let bad = graph.add(names.operation(named: "bad") { throw TestError("failed") })
      for index in 0..<100 {
        graph.add(needing: bad, named: "needing \(index)") { _ in SimpleOperation {} }
        graph.add(names.operation { 1 })
      }
    }
    let error = try #require(await graph.run().error as? OperationGraphError)
    #expect(!error.representsCancellation)
    let asked = names.count
    #expect(
      OperationErrorTree(error).description == """
        OperationGraphError
        ├─ [0] bad: failed
        ├─ did not begin: needing 0, needing 1, needing 2, … (100 in all)
        └─ as a result, 100 never began
        """)
    #expect(error.description.count < 100)
    // The name of the node that failed was computed when it failed.
    #expect(asked == 1 && names.count == 1)
    #expect(error.consequences.count == 100)
  }

  @Test func `G2: the error shows a failed node with the name of its operation`() async {
    for observers in [[], [RecordingObserver()]] {
      let graph = OperationGraph(giving: Void.self) { graph in
        let first = graph.add(SimpleOperation { 1 }, named: "first")
        _ = graph.add(needing: first) { _ in
          SimpleOperation<Int> { throw TestError("failed") }.named("second").retrying(attempts: 1)
        }
      }
      let outcome = await graph.run(in: OperationEnvironment(observers: observers))
      let error = outcome.error as? OperationGraphError
      #expect(error?.nodes.map(\.name) == ["first", "second"])
    }
  }

  @Test func `G2: a failure that another node handles does not turn a cancellation into an error`()
    async
  {
    let graph = OperationGraph(giving: Void.self, onFailure: .runAll) { graph in
      let failing = graph.add(SimpleOperation<Int> { throw TestError("failed") })
      _ = graph.add(needing: failing.outcome) { _ in SimpleOperation {} }
      _ = graph.add(SimpleOperation<Void> { throw CancellationError() })
    }
    #expect(await graph.run().isCancelled)
  }

  @Test func `G1: a graph can be a node of another graph`() async throws {
    let inner = OperationGraph { graph in
      (graph.add(SimpleOperation { 1 }), graph.add(SimpleOperation { 2 }))
    }
    let outer = OperationGraph { graph in
      graph.add(needing: graph.add(inner)) { pair in SimpleOperation { pair.0 + pair.1 } }
    }
    #expect(try await outer.run().get() == 3)
  }

  @Test(arguments: Setting.all)
  func `G4: a cancelled graph begins no further node and waits for nodes in flight`(
    setting: Setting
  ) async throws {
    let gate = Gate()
    let began = Log<Int>()
    let graph = OperationGraph { graph in
      let first = graph.add(SimpleOperation { await gate.passIgnoringCancellation() })
      return graph.add(needing: first.outcome) { _ in SimpleOperation { began.add(1) } }
    }
    let run = graph.start()
    await gate.waitForArrivals(1)
    run.cancel()
    gate.open()
    #expect(await run.outcome.isCancelled)
    #expect(began.count == 0)
  }

  @Test(arguments: Setting.all)
  func `G4: a node that cancels its own task cancels the graph`(setting: Setting) async throws {
    let graph = OperationGraph(giving: Void.self) { graph in
      graph.add(
        SimpleOperation {
          await setting.pause()
          cancelCurrentTask()
        })
      graph.add(setting.giving(1))
    }
    let outcome = try await setting.run { await graph.run() }
    #expect(outcome.isCancelled)
  }

  @Test func `G2: by default, a failure cancels running nodes`() async throws {
    let gate = Gate()
    let graph = OperationGraph(giving: Void.self) { graph in
      graph.add(SimpleOperation { try await gate.pass() })
      graph.add(
        SimpleOperation {
          await gate.waitForArrivals(1)
          throw TestError("bad")
        })
    }
    let error = try #require(await graph.run().error as? OperationGraphError)
    #expect("\(error)" == "[1] SimpleOperation<()>: bad")
    #expect(error.nodes[0].origin == .graph)
  }

  @Test func `G2: an error of the closure that creates an operation is the error of the node`()
    async throws
  {
    let observer = RecordingObserver()
    let graph = OperationGraph { graph in
      let one = graph.add(SimpleOperation { 1 })
      return graph.add(needing: one, named: "bad") { one in
        if one > 0 { throw TestError("not made") }
        return SimpleOperation { one }
      }
    }
    for environment in [OperationEnvironment(), OperationEnvironment(observers: [observer])] {
      let error = try #require(await graph.run(in: environment).error as? OperationGraphError)
      #expect("\(error)" == "[1] bad: not made")
      #expect(error.nodes[0].outcome.result as? Int == 1)
    }
    #expect(observer.short.contains("bad ended: error not made"))
  }

  @Test func `nodes of other graphs are a programming error`() async {
    await #expect(processExitsWith: .failure) {
      var stray: GraphNode<Int>?
      _ = OperationGraph(giving: Void.self) { graph in stray = graph.add(SimpleOperation { 1 }) }
      _ = OperationGraph(giving: Void.self) { graph in
        if let stray { graph.add(needing: stray) { _ in SimpleOperation {} } }
      }
    }
  }

  @Test(arguments: [OperationWidth.serial, .limited(to: 3), .adaptive])
  func `G5: the number of nodes in flight never exceeds the width`(width: OperationWidth)
    async throws
  {
    let crowd = Crowd()
    let graph = OperationGraph(giving: Void.self, width: width) { graph in
      let first = graph.add(SimpleOperation { 0 })
      let nodes = (0..<50).map { _ in
        graph.add(needing: first) { _ in
          SimpleOperation {
            crowd.enter()
            for _ in 0..<3 { await Task.yield() }
            crowd.leave()
          }
        }
      }
      graph.add(needingAll: nodes) { _ in SimpleOperation {} }
    }
    try await graph.run().get()
    #expect(crowd.most <= (width == .serial ? 1 : width == .adaptive ? 50 : 3))
    if width == .adaptive { #expect(crowd.most > 3) }
  }

  @Test(arguments: [0, 1] as [UInt64])
  func `G1: random graphs compute the same results as a loop over their nodes`(salt: UInt64)
    async throws
  {
    for seed in 0..<300 as Range<UInt64> {
      var random = OperationRandomness.seeded(seed * 2 + salt)
      let count = Int.random(in: 1...60, using: &random)
      let needs = (0..<count).map { node in
        (0..<Int.random(in: 0...3, using: &random)).compactMap { _ in
          node == 0 ? nil : Int.random(in: 0..<node, using: &random)
        }
      }
      let turns = (0..<count).map { _ in Int.random(in: 0...2, using: &random) }
      var expected: [Int] = []
      for node in 0..<count {
        expected.append(needs[node].reduce(node) { $0 &* 31 &+ expected[$1] })
      }
      let graph = OperationGraph { graph in
        var nodes: [GraphNode<Int>] = []
        for node in 0..<count {
          nodes.append(
            graph.add(needingAll: needs[node].map { nodes[$0] }) { values in
              SimpleOperation {
                for _ in 0..<turns[node] { await Task.yield() }
                return values.reduce(node) { $0 &* 31 &+ $1 }
              }
            })
        }
        return nodes
      }
      #expect(try await graph.run().get() == expected, "seed \(seed)")
      let outcome = try await SeededExecutor(seed: seed).run { await graph.run() }
      #expect(outcome.result == expected, "seed \(seed)")
    }
  }
}
