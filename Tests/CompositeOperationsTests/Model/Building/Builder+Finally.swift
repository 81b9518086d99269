import CompositeOperations

extension Builder {
  func tidied(
    _ base: some ComposableOperation<ShownValue>, inTurns turns: Int, at node: Int
  ) -> AnyShown {
    window(
      base.finally { [recorder] outcome in
        recorder.add { .sawEnd(node, ShownOutcome(outcome), isCancelled: $0) }
        for _ in 0..<turns { await Task.yield() }
        recorder.add { .tidied(node, isCancelled: $0) }
      }, at: node)
  }
}
