import CompositeOperations
import CompositeOperationsTestKit
import Testing

/// Pullers that let others have the thread between two children.
@Suite struct TurnTests {
  @Test func `O3: a result from before a yield stays a result`() async {
    // Children that wait, so that their puller has left the stack of the one that began it.
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
