import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite struct RecordingObserverTests {
  @Test func `events are kept in order, for all runs or for the runs with a name`()
    async throws
  {
    let recorder = RecordingObserver()
    #expect(recorder.events.isEmpty)
    let steps = SequentialOperation(
      .linear([
        SimpleOperation { 1 }.named("a"), SimpleOperation<Int> { throw TestError("b") }.named("b"),
      ])
    ).named("steps").observed(by: recorder)
    #expect(await steps.run().error != nil)
    #expect(
      recorder.short.filter { !$0.contains("ended") } == [
        "steps created", "steps started", "steps started a child", "a created", "a started",
        "steps started a child", "b created", "b started",
      ])
    #expect(
      recorder.events(of: "a").map(\.short) == ["a created", "a started", "a ended: result 1"])
    #expect(recorder.events(of: "missing").isEmpty)
    #expect(recorder.outcomes.map(\.name) == ["a", "b", "steps"])
    #expect(recorder.outcomes.prefix(2).map(\.outcome.kind) == ["result 1", "error b"])
    _ = await steps.run()
    #expect(recorder.outcomes.map(\.name) == ["a", "b", "steps", "a", "b", "steps"])
  }

  @Test func `events from many threads are all kept`() async {
    let recorder = RecordingObserver()
    let list = ParallelOperation(
      (0..<200).map { index in
        SimpleOperation {
          await Task.yield()
          return index
        }.named("child")
      })
    #expect(await list.observed(by: recorder).run().result?.count == 200)
    #expect(recorder.events(of: "child").count == 3 * 200)
    #expect(recorder.outcomes.count == 201)
  }
}
