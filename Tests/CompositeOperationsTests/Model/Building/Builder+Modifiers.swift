import CompositeOperations

extension Builder {
  func modified(_ modifier: Tree.Modifier, _ children: [Tree], at node: Int) -> AnyShown {
    let operations = children.map { operation($0) }
    let base = operations[0]
    // Modifiers with an alternative operation have two children.
    let another = operations[operations.count - 1]
    switch modifier {
    case .retrying(let retrying): return self.retrying(retrying, base, another, at: node)
    case .recovering(let recovering):
      return self.recovering(
        recovering, base, another, orTo: Array(operations.dropFirst()), at: node)
    case .finally(let yields): return withFinally(base, yielding: yields, at: node)
    case .repeating(let repeating): return self.repeating(base, repeating, at: node)
    case .timingOut(let limit): return timingOut(base, limit, at: node)
    case .delayed(let delay): return delayed(base, by: delay, at: node)
    case .throttled(let rate): return recorded(base.throttled(by: rates[rate]), at: node)
    case .requiring(let requiring): return self.requiring(base, requiring, at: node)
    case .taking(let claims): return taking(claims, base, at: node)
    }
  }
}
