import CompositeOperations
import CompositeOperationsTestKit
import Testing

/// Workers that yield their thread to other tasks between two children.
@Suite struct TurnTests {
  @Test func `O3: a result from before a yield stays a result`() async {
    // The children suspend, so that their worker no longer runs on the stack of the task that began
    // it.
    let count = 66
    for cancelled in 1..<(2 * count) {
      let made = Log<Int>()
      let children = (0..<count).map { index in
        SimpleOperation {
          await Task.yield()
          if !Task.isCancelled { made.add(index) }
        }
      }
      let composite = ParallelOperation(children, width: .serial)
      let shown = Log<Int>()
      let executor = SeededExecutor(seed: 1)
      let run = SimpleOperation.withContext { context in
        do {
          shown.add(try await composite.perform(in: context).count)
        } catch let error as ParallelOperationError {
          shown.add(error.children.count { $0.outcome.result != nil })
        }
      }.start(in: OperationEnvironment(executor: executor))
      executor.drain { if $0 == cancelled { run.cancel() } }
      _ = await run.outcome
      #expect(shown.entries == [made.entries.count], "cancelled after job \(cancelled)")
    }
  }
}
