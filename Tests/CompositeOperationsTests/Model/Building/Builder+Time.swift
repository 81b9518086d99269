import CompositeOperations

extension Builder {
  func timingOut(
    _ base: some ComposableOperation<ShownValue>, _ limit: Tree.Limit, at node: Int
  ) -> AnyShown {
    let limit: Duration =
      switch limit {
      case .never: .seconds(1_000_000)
      case .none: .zero
      case .negative: .seconds(-1)
      }
    return window(base.timingOut(after: limit), at: node)
  }

  func delayed(
    _ base: some ComposableOperation<ShownValue>, at node: Int
  ) -> AnyShown { window(base.delayed(by: .zero), at: node) }
}
