import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite struct ErrorTreeTests {
  private func tree(of operation: some ComposableOperation) async throws -> String {
    let outcome = await operation.run()
    return OperationErrorTree(try #require(outcome.error)).description
  }

  private func failing(_ text: String) -> any ComposableOperation<Int> {
    SimpleOperation { throw TestError(text) }.named("fetch")
  }

  private func giving(_ value: Int) -> any ComposableOperation<Int> {
    SimpleOperation { value }.named("give")
  }

  @Test
  func `V10: an error tree has the first cause first, and counts its consequences separately`()
    async throws
  {
    let gate = Gate()
    let waiting = SimpleOperation { () -> Int in
      try await gate.pass()
      return 1
    }.named("wait")
    let late = SimpleOperation { () -> Int in
      await gate.waitForArrivals(2)
      throw TestError("HTTP 500")
    }.named("fetch")
    let children: [any ComposableOperation<Int>] = [waiting, waiting, late, giving(1), giving(2)]
    let list = ParallelOperation(children, width: .limited(to: 3))
    #expect(
      try await tree(of: list) == """
        ParallelOperationError
        ├─ [2] fetch: HTTP 500
        └─ as a result, 2 were cancelled ([0] wait, [1] wait) and 2 never began
        """)
  }

  @Test func `V10: nested errors are branches`() async throws {
    let inner = ParallelOperation([failing("a"), failing("b")], width: .serial, onFailure: .runAll)
    let sequence = SequentialOperation(.linear([giving(1), inner.retrying(attempts: 2)]))
    #expect(
      try await tree(of: sequence.named("all")) == """
        SequentialOperationError
        └─ step 1, ParallelOperation: RetryError
           ├─ attempt 1: ParallelOperationError
           │  ├─ [0] fetch: a
           │  └─ [1] fetch: b
           └─ attempt 2: ParallelOperationError
              ├─ [0] fetch: a
              └─ [1] fetch: b
        """)
    let graph = OperationGraph(onFailure: .runAll) { graph in
      let first = graph.add(failing("two\nlines").named("first"))
      return graph.add(needing: first, named: "second") { _ in SimpleOperation { 1 } }
    }
    #expect(
      try await tree(of: graph) == """
        OperationGraphError
        ├─ [0] first: two
        │  lines
        └─ did not begin: second
        """)
  }

  @Test func `V10: a simple error is its own tree, and a deep tree is truncated`() async throws {
    #expect(OperationErrorTree(TestError("a\nb")).description == "a\nb")
    var deep = AnyOperation(failing("bottom"))
    for _ in 0..<10_000 { deep = AnyOperation(ParallelOperation([deep]).map { $0[0] }) }
    let lines = try await tree(of: deep).split(separator: "\n")
    #expect(lines.count < 100 && lines.last?.hasSuffix("…") == true)
  }
}
