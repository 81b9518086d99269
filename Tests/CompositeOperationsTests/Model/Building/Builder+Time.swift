import CompositeOperations

extension Builder {
  static func makeRates() -> [RateLimit] {
    Tree.rates.map { RateLimit($0.count, per: TurnClock.time($0.period)) }
  }

  func timingOut(
    _ base: some ComposableOperation<ShownValue>, _ limit: Tree.Limit, at node: Int
  ) -> AnyShown { window(base.timingOut(after: limit.time), at: node) }

  func delayed(
    _ base: some ComposableOperation<ShownValue>, by delay: Int, at node: Int
  ) -> AnyShown { window(base.delayed(by: TurnClock.time(delay)), at: node) }

  /// A leaf that its run need not wait for.
  func loose(_ leaf: Tree.Leaf, leftAfter limit: Tree.Limit, at node: Int) -> AnyShown {
    let body = SimpleOperation { [recorder] in try await recorder.performLoose(leaf, of: node) }
      .discarding { [recorder] value in recorder.add(.discarded(node, value)) }
    return window(
      body.named(Tree.looseName(node)).timingOut(after: limit.time, .abandoning), at: node)
  }
}

extension Tree.Limit {
  fileprivate var time: Duration {
    switch self {
    case .never: .seconds(1_000_000)
    case .none: .zero
    case .negative: .seconds(-1)
    case .moments(let moments): TurnClock.time(moments)
    }
  }
}
