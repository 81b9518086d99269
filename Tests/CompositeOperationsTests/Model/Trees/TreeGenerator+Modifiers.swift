extension TreeGenerator {
  private enum Choice {
    case retrying, recovering, finally, repeating, timingOut, delayed, throttled, requiring, taking
  }

  /// Returns a modifier and its children.
  mutating func modified(of size: Int) -> Tree.Kind {
    let modifier: Tree.Modifier =
      switch chance.pick([
        (10, Choice.retrying), (10, .recovering), (7, .finally), (6, .repeating), (9, .timingOut),
        (3, .delayed), (isAboutPermits ? 40 : 8, .throttled), (8, .requiring),
        (isAboutPermits ? 200 : 12, .taking),
      ]) {
      case .retrying: .retrying(retrying())
      case .recovering: .recovering(recovering())
      case .finally: .finally(yields: yields())
      case .repeating: .repeating(repeating())
      case .timingOut: .timingOut(chance.limit())
      case .delayed: .delayed(chance.number(0...3))
      case .throttled: .throttled(rate: chance.number(0...1))
      case .requiring: .requiring(requiring())
      case .taking: .taking(claims())
      }
    if case .taking(let claims) = modifier { kindsAbove += claims.map(\.kind) }
    defer {
      if case .taking(let claims) = modifier { kindsAbove.removeLast(claims.count) }
    }
    let counts = modifier.operationCounts(&chance)
    return .modified(
      modifier,
      children(
        of: max(size, counts.lowerBound + 1), atMost: counts.upperBound, least: counts.lowerBound))
  }

  private mutating func retrying() -> Tree.Retrying {
    let asking: Tree.Retrying.Asking = chance.pick([
      (3, .noClosure), (2, .whetherWorthwhile),
      (
        5,
        .decision(
          (0..<chance.number(1...3)).map { _ in decision() },
          yields: yields())
      ),
    ])
    return Tree.Retrying(attempts: chance.number(1...4), asking: asking, delay: chance.delay())
  }

  private mutating func recovering() -> Tree.Recovering {
    Tree.Recovering(
      way: chance.pick([
        (3, .value), (3, .operation), (2, .otherError), (3, .fallingBack), (3, .ignoring),
        (4, .fallingBackToList(rounds: chance.pick([(4, 1), (1, 2)]))),
      ]),
      remedy: chance.pick([(70, .value), (15, .error), (6, .cancellation), (9, .sameError)]),
      yields: yields())
  }

  private mutating func repeating() -> Tree.Repeating {
    let times = chance.maybe(80) { $0.number(1...3) }
    return Tree.Repeating(
      times: times, asks: times == nil || chance.percent(50), delay: chance.delay())
  }

  private mutating func requiring() -> Tree.Requiring {
    Tree.Requiring(
      conditions: (0..<chance.pick([(1, 0), (6, 1), (6, 2), (6, 3)])).map { _ in condition() },
      combination: chance.pick([
        (3, .each), (2, .stacked), (2, .all), (2, .any), (2, .firstAndAny),
      ]), listsFirstTwice: chance.percent(20))
  }

  private mutating func condition() -> Tree.Condition {
    let isNegated = chance.percent(20)
    return Tree.Condition(
      answer: chance.pick([
        (75, isNegated ? .no : .yes), (8, isNegated ? .yes : .no), (9, .error), (4, .cancellation),
        (4, .skip),
      ]),
      yields: chance.maybe(55) { $0.number(0...4) }, isNegated: isNegated)
  }

  private mutating func claims() -> [Tree.Claim] {
    var kinds = [chance.pick([(4, 0), (4, 1), (1, 2)])]
    // A cycle needs kinds that no ancestor takes.
    if isAboutPermits, chance.percent(85), kindsAbove.contains(kinds[0]) {
      kinds[0] = (kinds[0] + 1) % 3
    }
    if chance.percent(isAboutPermits ? 10 : 30) {
      kinds.append((kinds[0] + chance.number(1...2)) % 3)
    }
    return kinds.map { kind in
      Tree.Claim(
        kind: kind,
        wanted: chance.maybe(isAboutPermits ? 85 : 60) { $0.number(1...Tree.permitCounts[kind]) })
    }
  }

  private mutating func yields() -> Int { chance.percent(40) ? chance.number(1...3) : 0 }

  private mutating func decision() -> Tree.Retrying.Decision {
    chance.pick([
      (50, .again), (25, .another), (8, .stop), (6, .error), (4, .cancellation), (7, .sameError),
    ])
  }
}

extension Tree.Modifier {
  /// Returns the possible numbers of operations of the modifier.
  fileprivate func operationCounts(_ chance: inout Chance) -> ClosedRange<Int> {
    switch self {
    case .retrying(let retrying):
      if case .decision(let decisions, _) = retrying.asking, decisions.contains(.another) {
        2...2
      } else {
        1...1
      }
    case .recovering(let recovering):
      switch recovering.way {
      case .operation, .fallingBack: 2...2
      case .fallingBackToList: chance.pick([(1, 1...1), (3, 2...2), (6, 3...5)])
      case .value, .otherError, .ignoring: 1...1
      }
    case .finally, .repeating, .timingOut, .delayed, .throttled, .requiring, .taking: 1...1
    }
  }
}

extension Chance {
  mutating func limit() -> Tree.Limit {
    pick([(4, .never), (1, .none), (1, .negative), (10, .ticks(number(1...6)))])
  }

  fileprivate mutating func delay() -> Int { percent(25) ? number(1...3) : 0 }
}
