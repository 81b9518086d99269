extension Tree {
  /// Trees with a little less in them.
  var smaller: [Tree] {
    var smaller = children
    if mayLoseChild {
      for index in children.indices {
        var tree = self
        tree.children.remove(at: index)
        smaller.append(tree)
      }
    }
    if case .leaf(var leaf) = kind, leaf.waiting != .turns(0) {
      leaf.waiting = leaf.waiting == .turns(1) ? .turns(0) : .turns(1)
      smaller.append(Tree(id: id, kind: .leaf(leaf)))
    }
    if case .leaf(var leaf) = kind, leaf.computing != nil {
      leaf.computing = nil
      smaller.append(Tree(id: id, kind: .leaf(leaf)))
    }
    for (index, child) in children.enumerated() {
      smaller += child.smaller.map { child in
        var tree = self
        tree.children[index] = child
        return tree
      }
    }
    return smaller
  }

  private var mayLoseChild: Bool {
    switch kind {
    case .list(let list, let children): children.count > (list.form == .pack ? 2 : 0)
    case .race(_, let children), .sequence(_, let children), .body(_, let children):
      children.count > 1
    case .leaf, .then, .map, .prioritized, .nested, .named, .erased, .discarding, .modified: false
    }
  }
}

extension Verdict {
  /// A verdict on the smallest tree that could be found which goes wrong like this one.
  func smallest() async -> Verdict {
    var best = self
    var attempts = 3_000
    search: while attempts > 0 {
      for tree in best.trial.tree.smaller {
        attempts -= 1
        if attempts == 0 { break search }
        if let verdict = await best.trial.goesWrong(with: tree, like: best) {
          best = verdict
          continue search
        }
      }
      break
    }
    return best
  }
}

extension Trial {
  /// The first verdict that breaks the same rule with another tree, in a few orders and with a few
  /// moments of cancellation.
  fileprivate func goesWrong(with tree: Tree, like verdict: Verdict) async -> Verdict? {
    var trial = self
    trial.tree = tree.withoutVainRivals
    trial.patience = .seconds(1)
    for moment in cancellation.earlier {
      trial.cancellation = moment
      for order in 0..<4 as Range<UInt64> {
        trial.orderSeed = orderSeed &+ order
        let other = await trial.verdict()
        if other.rule == verdict.rule { return other }
      }
    }
    return nil
  }
}

extension Trial.Cancellation {
  /// This moment and some before it.
  fileprivate var earlier: [Trial.Cancellation] {
    switch self {
    case .never, .beforeTheStart: [self]
    case .after(let point): [self] + (1...3).map { .after(max(1, point * $0 / 4)) }
    }
  }
}
