import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite struct EventLawTests {
  @Test(arguments: EventScene.all)
  func `C1: events report every run from its creation to its end, within the run of its parent`(
    scene: EventScene
  ) async throws {
    for setting in Setting.many {
      let recorder = RecordingObserver()
      let environment = OperationEnvironment(observers: [recorder])
      let outcome = try await setting.run { await scene.operation(setting).run(in: environment) }
      let events = recorder.events
      try #require(events.findings(order: setting.order) == [], "\(setting)")
      try #require(recorder.outcomes.last?.outcome.kind == outcome.map { $0 as any Sendable }.kind)
      if let paths = scene.paths { try #require(events.pathsOfBegun == paths, "\(setting)") }
    }
  }

  @Test(arguments: EventScene.all)
  func `O2: a run that is cancelled before it begins reports the reason, and no start`(
    scene: EventScene
  ) async {
    let setting = Setting(suspends: true, workers: .all)
    let recorder = RecordingObserver()
    let executor = SeededExecutor(seed: 1)
    let environment = OperationEnvironment(observers: [recorder], executor: executor)
    let run = scene.operation(setting).start(in: environment)
    run.cancel(because: "enough")
    executor.drain()
    #expect(
      recorder.short == ["root created", "root asked to cancel: enough", "root ended: cancelled"])

    let other = RecordingObserver()
    let task = Task {
      cancelCurrentTask()
      return await scene.operation(setting).run(in: OperationEnvironment(observers: [other]))
    }
    #expect(await task.value.isCancelled)
    #expect(other.short == ["root created", "root asked to cancel: -", "root ended: cancelled"])
  }

  @Test func `O3: the late outcome of a child is in its ended event, in every composite`() async {
    typealias Child = AnyOperation<Int>
    let composites: [@Sendable (Child, Child) -> any ComposableOperation] = [
      { RaceOperation([$0, $1] as [any ComposableOperation<Int>]) },
      { ParallelOperation([$0, $1] as [any ComposableOperation<Int>]) },
      { late, sibling in ParallelOperation { [late, sibling] } },
      { ParallelOperation($0, $1) },
    ]
    let ends: [@Sendable () throws -> Int] = [
      { 2 }, { throw TestError("failed") }, { throw TestError("failed") },
      { throw CancellationError() },
    ]
    for (composite, end) in zip(composites, ends) {
      let started = Gate()
      let late = SimpleOperation {
        // Returns its result after the cancellation.
        try? await started.pass()
        return 1
      }.named("late")
      // Without this, it could end before the other one begins.
      let sibling = SimpleOperation {
        await started.waitForArrivals(1)
        return try end()
      }
      let recorder = RecordingObserver()
      await composite(Child(late), Child(sibling)).runObserved(by: recorder)
      let ends = recorder.short.filter { $0.hasPrefix("late ended") }
      #expect(ends == ["late ended: cancelled, late: result 1"], "\(recorder.short)")
    }
  }

  @Test func `O4: a body that cancels itself reports no cancellation request`() async throws {
    for setting in Setting.many {
      let recorder = RecordingObserver()
      let operation = SequentialOperation(
        .linear([setting.giving(1).named("a"), setting.stopping().named("b")])
      ).named("steps").observed(by: recorder)
      try #require(try await setting.run { await operation.run() }.isCancelled)
      try #require(
        recorder.short == [
          "steps created", "steps started", "steps started a child", "a created", "a started",
          "a ended: result 1", "steps started a child", "b created", "b started",
          "b ended: cancelled",
          recorder.short.last { $0.hasPrefix("steps ended: cancelled, late: error") } ?? "no end",
        ], "\(setting)")
    }
  }

  @Test func `O5: a second finish is reported by the finished run, even after its end`()
    async throws
  {
    let handle = Log<OperationFinish<Int>>()
    let call = SimpleOperation<Int>.withCallback { finish in
      handle.add(finish)
      finish(.result(1))
      finish(.result(2))
    }.named("call")
    let recorder = RecordingObserver()
    let outcome = await ParallelOperation([call]).named("list").observed(by: recorder).run()
    #expect(outcome.result == [1])
    handle.entries.first?(.cancelled)
    #expect(
      recorder.short == [
        "list created", "list started", "list started a child", "call created", "call started",
        "call finished again: result 2", "call ended: result 1", "list ended: result [1]",
        "call finished again: cancelled",
      ])
    let last = try #require(recorder.events.last)
    #expect(last.path.names == ["list", "call"])
    #expect(last.id == recorder.events(of: "call").first?.id)
    #expect(recorder.events.findings(order: .total) == [])
  }
}

extension ComposableOperation {
  fileprivate func runObserved(by recorder: RecordingObserver) async {
    _ = await observed(by: recorder).run()
  }
}
