import CompositeOperations

extension Builder {
  func modified(_ modifier: Tree.Modifier, _ children: [Tree], at node: Int) -> AnyShown {
    let operations = children.map { operation($0) }
    switch modifier {
    case .retrying(let retrying):
      return self.retrying(retrying, operations[0], operations.last, at: node)
    }
  }
}
