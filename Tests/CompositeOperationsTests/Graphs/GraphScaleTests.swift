import CompositeOperations
import Testing

/// Large graphs, whose time and memory are proportional to the number of nodes.
@Suite struct GraphScaleTests {
  @Test func `G6: chains, fans and layers of 100,000 nodes run to their results`() async throws {
    let count = Scale.isSanitized ? 5_000 : 100_000
    let chain = OperationGraph { graph in
      var last = graph.add(SimpleOperation { 0 })
      for _ in 1..<count { last = graph.add(needing: last) { sum in SimpleOperation { sum + 1 } } }
      return last
    }
    #expect(try await chain.run().get() == count - 1)
    for suspends in [false, true] {
      let fan = OperationGraph { graph in
        let first = graph.add(SimpleOperation { 1 })
        let nodes = (2..<count).map { _ in
          graph.add(needing: first) { value in
            SimpleOperation {
              if suspends { await Task.yield() }
              return value
            }
          }
        }
        return graph.add(needingAll: nodes) { values in SimpleOperation { values.reduce(0, +) } }
      }
      #expect(try await fan.run().get() == count - 2)
    }
    let layers = OperationGraph { graph in
      var layer = (0..<100).map { number in graph.add(SimpleOperation { number }) }
      for number in 1..<(count / 100) {
        layer = layer.indices.map { index in
          graph.add(needing: layer[index], layer[(index + number) % 100]) { one, other in
            SimpleOperation { max(one, other) }
          }
        }
      }
      return layer
    }
    #expect(try await layers.run().get().count == 100)
  }
}
