import CompositeOperations

extension Builder {
  func withFinally(
    _ base: some ComposableOperation<ShownValue>, yielding yields: Int, at node: Int
  ) -> AnyShown {
    recorded(
      base.finally { [recorder] outcome in
        recorder.add { .finallyBegan(node, ShownOutcome(outcome), isCancelled: $0) }
        for _ in 0..<yields { await Task.yield() }
        recorder.add { .finallyEnded(node, isCancelled: $0) }
      }, at: node)
  }
}
