import CompositeOperations
import CompositeOperationsTestKit
import Testing

/// Nodes that need the outcomes of other nodes.
@Suite struct GraphOutcomeTests {
  @Test(arguments: Setting.all)
  func `G3: a node that needs an outcome runs in any case, and can handle a failure`(
    setting: Setting
  ) async throws {
    let graph = OperationGraph { graph in
      let bad = graph.add(setting.failing())
      let needing = graph.add(needing: bad) { _ in setting.giving(1) }
      return graph.add(needing: bad.outcome, needing.outcome) { bad, needing in
        setting.giving("\(bad.kind), \(needing.kind)")
      }
    }
    let outcome = try await setting.run { await graph.run() }
    #expect(outcome.result == "error failed, error failed")
  }

  @Test(arguments: [FailureMode.cancelRemaining, .runAll])
  func `G3: a node that cannot begin has the outcome of the node that prevented it`(
    mode: FailureMode
  )
    async throws
  {
    let stopping = SimpleOperation<Int> { throw CancellationError() }
    let failing = SimpleOperation<Int> { throw TestError("failed") }
    for (build, expected) in [(failing, "error failed"), (stopping, "cancelled")] {
      let pipeline = OperationGraph(onFailure: mode) { graph in
        let build = graph.add(build)
        let test = graph.add(needing: build) { _ in SimpleOperation { 1 } }
        let publish = graph.add(needing: test) { _ in SimpleOperation { 2 } }
        return graph.add(needing: publish.outcome) { publish in SimpleOperation { publish.kind } }
      }
      #expect(try await pipeline.run().get() == expected)
    }
    // A failure takes precedence over a cancellation, in any position.
    let both = OperationGraph(onFailure: mode) { graph in
      let one = graph.add(stopping)
      let other = graph.add(failing)
      let needing = graph.add(needing: one, other) { _, _ in SimpleOperation { 1 } }
      return graph.add(needing: needing.outcome) { outcome in SimpleOperation { outcome.kind } }
    }
    #expect(try await both.run().get() == "error failed")
  }

  @Test func `G3: a mapped node has the mapped outcome`() async throws {
    let graph = OperationGraph { graph in
      let text = graph.add(SimpleOperation { 7 }).map { "\($0) apples, as many as there are" }
      let length = text.map(\.count)
      return graph.add(needing: text.outcome, length.outcome.map(\.result)) { text, length in
        SimpleOperation { "\(text.kind): \(length ?? 0)" }
      }
    }
    #expect(try await graph.run().get() == "result 7 apples, as many as there are: 30")
  }

  @Test(arguments: [FailureMode.cancelRemaining, .runAll])
  func `G3: a graph can return the outcome of a node that fails`(mode: FailureMode) async throws {
    let graph = OperationGraph(onFailure: mode) { graph in
      let failing = graph.add(SimpleOperation<Int> { throw TestError("failed") })
      let other = graph.add(SimpleOperation { 1 })
      return (failing.outcome, other)
    }
    let (outcome, other) = try await graph.run().get()
    #expect(outcome.kind == "error failed")
    #expect(other == 1)
  }
}
