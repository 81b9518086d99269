import CompositeOperations
import CompositeOperationsTestKit
import Testing

/// Runs the tests of the article "Testing your flow". `ExampleTests` compiles its code blocks.
@Suite struct TestingYourFlowTests {
  private struct OpenIssues: ComposableOperation {
    let list: AnyOperation<[String]>
    let issues: @Sendable (String) -> AnyOperation<[String]>

    func perform(in context: OperationContext) async throws -> [String] {
      let patient = list.retrying(attempts: 3, backoff: .constant(.seconds(1)))
      let fetches = try await context.run(patient).map { repository in
        issues(repository).timingOut(after: .seconds(10))
      }
      let lists = try await context.run(ParallelOperation(fetches, width: .limited(to: 4)))
      return lists.flatMap(\.self)
    }
  }

  private func flow(
    _ list: ScriptedOperation<[String]>,
    _ issues: @escaping @Sendable (String) -> AnyOperation<[String]>
  ) -> OpenIssues {
    OpenIssues(list: AnyOperation(list), issues: issues)
  }

  @Test func `scripts define what the parts of a flow do`() async throws {
    let list = ScriptedOperation("list", runs: [.result(["a", "b"])])
    let fetch = ScriptedOperation("issues", runs: [], thereafter: .result(["A"]))
    try await flow(list) { _ in AnyOperation(fetch) }.run().expectResult(["A", "A"])
    #expect(fetch.runCount == 2)
  }

  @Test func `the clock advances automatically between attempts`() async throws {
    try await SeedHunt().run { environment in
      let offline = ScriptedError("offline")
      let list = ScriptedOperation<[String]>(
        "list", runs: [.error(offline), .error(offline), .result([])])
      let recorder = RecordingObserver()
      let flow = flow(list) { _ in AnyOperation(SimpleOperation { [] }) }
      try await flow.observed(by: recorder).run(in: environment).expectResult([])
      try recorder.expect(.retried("list"), times: 2)
      try recorder.expect(.waited("list", for: .time(.seconds(1))), times: 2)
    }
  }

  @Test func `results are in order under every schedule, with four concurrent fetches`()
    async throws
  {
    try await SeedHunt(seeds: 0..<200).run { environment in
      let repositories = (0..<9).map { "\($0)" }
      let list = ScriptedOperation("list", runs: [.result(repositories)])
      let work = ScriptedOperation<Void>(
        "work", runs: [], thereafter: .result(()).after(.seconds(2)))
      let flow = flow(list) { repository in AnyOperation(work.map { [repository] }) }
      let recorder = RecordingObserver()
      let issues = try await flow.observed(by: recorder).run(in: environment).expectResult()
      try #require(issues == repositories)
      try #require(work.mostInFlight == 4)
      try recorder.expectOrder(.succeeded("list"), .started("work"))
    }
  }

  @Test func `a fetch that times out is in the error of the composite`() async throws {
    try await SeedHunt(seeds: 0..<20).run { environment in
      let list = ScriptedOperation("list", runs: [.result(["a", "b"])])
      let fetch = ScriptedOperation<[String]>(
        "issues", runs: [.result([]).after(.seconds(20)), .untilCancelled])
      let flow = flow(list) { _ in AnyOperation(fetch) }
      let error = try await flow.run(in: environment).expectError(ParallelOperationError.self)
      try #require(error.failures.contains { $0.outcome.error is TimeoutError })
      try #require(fetch.inFlight == 0)
    }
  }

  @Test func `a flow cancelled with two fetches in flight ends after both`() async throws {
    let gate = Gate()
    let list = ScriptedOperation("list", runs: [.result(["a", "b"])])
    let fetch = ScriptedOperation<[String]>(
      "issues", runs: [], thereafter: .result([]).behind(gate))
    let run = flow(list) { _ in AnyOperation(fetch) }.start()
    await gate.waitForArrivals(2)
    run.cancel()
    try await run.outcome.expectCancelled()
    #expect(fetch.inFlight == 0)
  }

  @Test func `the timelines of the article match, and a mismatch is shown as in the article`()
    throws
  {
    try TimelineTest(["---r", "-^", "--r"]) { children in
      ParallelOperation(
        children.map { $0.timingOut(after: .seconds(10)) }, width: .limited(to: 2))
    }.expect("-^", children: ["-x", "-^", ""])
    try TimelineTest(["-^|---r"]) { children in
      children[0].retrying(attempts: 3, backoff: .constant(.seconds(2)))
    }.expect("------r", children: ["-^.---r"])
    try TimelineTest(["-r", "---r"]) { children in SequentialOperation(.linear(children)) }
      .expect("--x", children: ["-r", ".-x"])
    let error = #expect(throws: TimelineMismatchError.self) {
      try TimelineTest(["---r", "-^"]) { ParallelOperation($0, onFailure: .runAll) }
        .expect("-^", children: ["-x", "-^"], file: "AppTests/OpenIssuesTests.swift", line: 31)
    }
    let article = try #require(
      try Checkout.text(of: "Documentation/CompositeOperations.docc/TestingYourFlow.md"))
    let picture = try #require(error).description
    if !article.contains(picture) {
      Issue.record("The article does not contain this text:\n\(picture)")
    }
  }
}
