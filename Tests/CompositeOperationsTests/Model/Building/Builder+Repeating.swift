import CompositeOperations

extension Builder {
  func repeating(
    _ base: some ComposableOperation<ShownValue>, _ repeating: Tree.Repeating, at node: Int
  ) -> AnyShown {
    let isDone: @Sendable (ShownValue) -> Bool = { [recorder] value in
      recorder.add(.called(node, value))
      let isDone = recorder.percent(40)
      recorder.add(.answered(node, isDone ? .end : .again))
      return isDone
    }
    let backoff = Backoff.constant(TickClock.time(repeating.delay))
    return switch (repeating.times, repeating.asks) {
    case (let times?, true):
      recorded(base.repeating(times: times, backoff: backoff, until: isDone), at: node)
    case (nil, _): recorded(base.repeating(backoff: backoff, until: isDone), at: node)
    case (let times?, false): recorded(base.repeating(times: times, backoff: backoff), at: node)
    }
  }
}
