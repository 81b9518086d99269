import CompositeOperations

extension Builder {
  static func makeRates() -> [RateLimit] {
    Tree.rates.map { RateLimit($0.count, per: TickClock.time($0.period)) }
  }

  func timingOut(
    _ base: some ComposableOperation<ShownValue>, _ limit: Tree.Limit, at node: Int
  ) -> AnyShown { recorded(base.timingOut(after: limit.time), at: node) }

  func delayed(
    _ base: some ComposableOperation<ShownValue>, by delay: Int, at node: Int
  ) -> AnyShown { recorded(base.delayed(by: TickClock.time(delay)), at: node) }

  /// Returns a leaf whose run may abandon its body.
  func abandonable(_ leaf: Tree.Leaf, abandonedAfter limit: Tree.Limit, at node: Int) -> AnyShown {
    let body = SimpleOperation { [recorder] in
      try await recorder.performAbandonable(leaf, of: node)
    }.discarding { [recorder] value in recorder.add(.discarded(node, value)) }
    return recorded(
      body.named(Tree.abandonableBodyName(node)).timingOut(after: limit.time, .abandoning),
      at: node)
  }
}

extension Tree.Limit {
  fileprivate var time: Duration {
    switch self {
    case .never: .seconds(1_000_000)
    case .none: .zero
    case .negative: .seconds(-1)
    case .ticks(let ticks): TickClock.time(ticks)
    }
  }
}
