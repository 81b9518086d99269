import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite struct HookTests {
  @Test(arguments: Setting.all)
  func `V5: hooks are called at the start, and at the end before waiters continue`(setting: Setting)
    async throws
  {
    let log = Log<String>()
    let cases: [(SimpleOperation<Int>, String)] = [
      (setting.giving(1), "result 1"), (setting.failing(), "error failed"),
      (setting.stopping(), "cancelled"),
    ]
    for (base, kind) in cases {
      for observers in [[], [RecordingObserver()]] {
        let operation = SimpleOperation.withContext { context in
          let outcome = await context.outcome(
            of: base.onStart { log.add("starts") }.onEnd { log.add("ended: \($0.kind)") })
          log.add("continues: \(outcome.kind)")
          return outcome.kind
        }
        let outcome = try await setting.run {
          await operation.run(in: OperationEnvironment(observers: observers))
        }
        #expect(outcome.result == kind)
        #expect(log.entries.suffix(3) == ["starts", "ended: \(kind)", "continues: \(kind)"])
      }
    }
  }

  @Test func `V5: hooks are not called if the operation does not start`() async {
    let log = Log<String>()
    let hooked = SimpleOperation { 1 }.onStart { log.add("starts") }.onEnd { _ in log.add("ended") }
    let task = Task {
      cancelCurrentTask()
      return await hooked.run()
    }
    #expect(await task.value.isCancelled)
    #expect(log.count == 0)
  }

  @Test func `V5: a hook receives the cancellation, and a lost value is discarded once`()
    async
  {
    let log = Log<String>()
    let gate = Gate()
    let run = SimpleOperation {
      try? await gate.pass()
      return 1
    }.discarding { log.add("discarded \($0)") }.onEnd { log.add("ended: \($0.kind)") }.start()
    await gate.waitForArrivals(1)
    run.cancel()
    #expect(await run.outcome.isCancelled)
    #expect(log.entries == ["ended: cancelled", "discarded 1"])
    #expect(await run.lateOutcome?.kind == "result 1")
  }

  @Test func `V5: hooks pass on the reason of a skip`() async {
    let run = SimpleOperation { 1 }.requiring(Condition("is so") { false }).onStart {}.onEnd { _ in
    }.start()
    #expect(await run.outcome.isCancelled)
    #expect(await run.lateOutcome?.error is Skipped)
  }

  @Test func `O2: a run that onStart cancels does not begin its body`() async {
    for isObserved in [false, true] {
      let log = Log<String>()
      let recorder = RecordingObserver()
      let body = SimpleOperation { log.add("began") }
      let operations: [any ComposableOperation<Void>] = [
        body.onStart { cancelCurrentTask() },
        body.named("a").onStart { cancelCurrentTask() }.onEnd { _ in },
        ParallelOperation([body.onStart { cancelCurrentTask() }]).map { _ in },
      ]
      for operation in operations {
        let environment = OperationEnvironment(observers: isObserved ? [recorder] : [])
        #expect(await operation.start(in: environment).outcome.isCancelled)
      }
      #expect(log.entries == [])
      #expect(!isObserved || recorder.events.last?.isEnd == true)
    }
  }
}
