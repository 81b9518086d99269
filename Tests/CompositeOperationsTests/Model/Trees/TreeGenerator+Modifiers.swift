extension TreeGenerator {
  private enum Choice {
    case retrying
  }

  /// A modifier, and what is below it.
  mutating func modified(of size: Int) -> Tree.Kind {
    let modifier: Tree.Modifier =
      switch chance.pick([(10, Choice.retrying)]) {
      case .retrying: .retrying(retrying())
      }
    let count = modifier.operationCount
    return .modified(modifier, children(of: max(size, count + 1), atMost: count, least: count))
  }

  private mutating func retrying() -> Tree.Retrying {
    let asking: Tree.Retrying.Asking = chance.pick([
      (3, .nobody), (2, .whetherWorthwhile),
      (
        5,
        .decision(
          (0..<chance.number(1...3)).map { _ in decision() },
          turns: chance.percent(40) ? chance.number(1...3) : 0)
      ),
    ])
    return Tree.Retrying(attempts: chance.number(1...4), asking: asking)
  }

  private mutating func decision() -> Tree.Retrying.Decision {
    chance.pick([
      (50, .again), (25, .another), (8, .stop), (6, .error), (4, .cancellation), (7, .sameError),
    ])
  }
}

extension Tree.Modifier {
  /// How many operations it takes.
  fileprivate var operationCount: Int {
    switch self {
    case .retrying(let retrying):
      if case .decision(let decisions, _) = retrying.asking, decisions.contains(.another) {
        2
      } else {
        1
      }
    }
  }
}
