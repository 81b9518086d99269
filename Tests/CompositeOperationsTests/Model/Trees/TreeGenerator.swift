/// Generates random trees.
struct TreeGenerator {
  var chance: Chance
  private var lastID = -1
  /// Whether the tree prefers permits and rates, so that its nodes contend for them.
  let isAboutPermits: Bool
  /// The kinds of permits that the ancestors of the current node take.
  var kindsAbove: [Int] = []

  private enum Choice {
    case leaf, list, wideList, race, sequence, then, map, body, prioritized, nested, named
    case erased, discarding, modified, loop
  }

  init(seed: UInt64) {
    chance = Chance(seed: seed)
    isAboutPermits = chance.percent(15)
  }

  /// - Parameter size: The approximate number of nodes.
  mutating func tree(of size: Int) -> Tree {
    lastID += 1
    let id = lastID
    return Tree(id: id, kind: kind(of: size))
  }

  private mutating func kind(of size: Int) -> Tree.Kind {
    let choices: [(Int, Choice)] =
      size <= 1
      ? [
        (60, .leaf), (30, .discarding), (4, .named), (3, .erased), (3, .prioritized),
        (isAboutPermits ? 100 : 0, .modified),
      ]
      : [
        (3, .leaf), (34, .list), (1, .wideList), (10, .race), (24, .sequence), (6, .then),
        (4, .map), (8, .body), (3, .prioritized), (1, .nested), (2, .named), (2, .erased),
        (3, .discarding), (isAboutPermits ? 60 : 44, .modified), (1, .loop),
      ]
    switch chance.pick(choices) {
    case .leaf: return .leaf(leaf())
    case .list:
      let list = list()
      return .list(list, children(of: size, atMost: list.form == .pack ? 3 : 6, least: list.least))
    case .wideList:
      var list = list()
      if list.form == .pack { list.form = .mixed }
      return .list(list, (0..<chance.number(17...40)).map { _ in tree(of: 1) })
    case .race: return .race(isUniform: chance.percent(50), children(of: size))
    case .sequence:
      let steps = steps()
      return .sequence(steps, children(of: size, atMost: steps.most))
    case .then:
      let parts = children(of: size, atMost: 2, least: 2)
      return .then(closureEnd(), parts[0], parts[1])
    case .map: return .map(closureEnd(), tree(of: size - 1))
    case .body: return .body(body(), children(of: size, atMost: 3))
    case .prioritized: return .prioritized(isHigh: chance.percent(50), tree(of: size - 1))
    case .nested: return .nested(depth: chance.pick([(2, 2), (1, 60)]), tree(of: size - 1))
    case .named: return .named(tree(of: size - 1))
    case .erased: return .erased(tree(of: size - 1))
    case .discarding: return .discarding(tree(of: size - 1))
    case .modified: return modified(of: size)
    case .loop: return loop()
    }
  }

  /// Returns children that share the rest of a size.
  mutating func children(of size: Int, atMost most: Int = 6, least: Int = 1) -> [Tree] {
    if least == 0, chance.percent(4) { return [] }
    let most = max(max(1, least), min(most, size - 1))
    let count = chance.number(max(1, least)...most)
    var left = max(count, size - 1)
    return (0..<count).map { index in
      let others = count - index - 1
      let share = others == 0 ? left : chance.number(1...max(1, (left - others) * 2 / (others + 1)))
      left = max(others, left - share)
      return tree(of: share)
    }
  }

  // MARK: Nodes

  private mutating func leaf() -> Tree.Leaf {
    let limit = chance.maybe(5) { $0.limit() }
    return Tree.Leaf(
      end: chance.pick([
        (60, .value), (8, .valueAfterError), (14, .error), (11, .cancellation), (4, .interruption),
      ]),
      computing: chance.maybe(10) { .ticks($0.number(1...4)) },
      waiting: chance.percent(8)
        ? .cancellation : .yields(chance.percent(35) ? 0 : chance.number(1...4)),
      noticesCancellation: chance.percent(40), isClosure: limit == nil && chance.percent(30),
      abandonedAfter: limit)
  }

  private mutating func list() -> Tree.List {
    let form: Tree.List.Form = chance.pick([
      (30, .uniform), (25, .mixed), (15, .pack), (15, .made),
      (15, .arriving(failsAt: chance.maybe(30) { $0.number(0...4) })),
    ])
    return Tree.List(
      form: form, width: chance.maybe(55) { $0.pick([(3, 1), (4, 2), (2, 3), (1, 5)]) },
      explicitRunsAll: chance.maybe(70) { $0.percent(60) }, collectsOutcomes: chance.percent(20))
  }

  /// Returns a loop of many steps that do not suspend.
  private mutating func loop() -> Tree.Kind {
    var step = tree(of: 0)
    step.kind = .leaf(
      Tree.Leaf(end: .value, waiting: .yields(0), noticesCancellation: false, isClosure: false))
    let times = 150
    switch chance.number(0...2) {
    case 0:
      return .modified(.repeating(Tree.Repeating(times: times, asks: false, delay: 0)), [step])
    case 1:
      return .modified(
        .retrying(Tree.Retrying(attempts: times, asking: .noClosure, delay: 0)),
        [step.failing])
    default:
      var other = tree(of: 0)
      other.kind = step.failing.kind
      let recovering = Tree.Recovering(
        way: .fallingBackToList(rounds: times), remedy: .value, yields: 0)
      return .modified(.recovering(recovering), [step.failing, other])
    }
  }

  private mutating func steps() -> Tree.Steps {
    chance.pick([
      (15, .linear), (10, .built(endsAt: chance.maybe(40) { $0.number(0...3) })),
      (34, .delegate(delegate())),
    ])
  }

  private mutating func delegate() -> Tree.Delegate {
    Tree.Delegate(
      recovers: chance.percent(70), continuesAfterCancellation: chance.percent(50),
      endsAfter: chance.maybe(20) { $0.number(0...3) },
      throwsAt: chance.maybe(15) { $0.number(0...3) },
      throwsCancellation: chance.percent(40), yields: chance.percent(30) ? chance.number(1...3) : 0,
      history: chance.maybe(30) { $0.number(0...2) }, output: chance.maybe(20) { $0.closureEnd() })
  }

  private mutating func body() -> Tree.Body {
    Tree.Body(
      isConcurrent: chance.percent(30), letsErrorsThrough: chance.percent(50),
      yields: chance.percent(30) ? 1 : 0, end: closureEnd())
  }

  mutating func closureEnd() -> Tree.ClosureEnd { chance.closureEnd() }
}

extension Chance {
  fileprivate mutating func closureEnd() -> Tree.ClosureEnd {
    pick([(80, .value), (14, .error), (6, .cancellation)])
  }
}

extension Tree {
  /// A copy of a leaf that ends in an error.
  fileprivate var failing: Tree {
    guard case .leaf(var leaf) = kind else { preconditionFailure("n\(id) must be a leaf") }
    leaf.end = .error
    return Tree(id: id, kind: .leaf(leaf))
  }
}

extension Tree.List {
  /// The minimum number of children.
  fileprivate var least: Int { form == .pack ? 2 : 0 }
}

extension Tree.Steps {
  /// The maximum number of operations.
  fileprivate var most: Int {
    switch self {
    case .built: 3
    case .linear, .delegate: 5
    }
  }
}
