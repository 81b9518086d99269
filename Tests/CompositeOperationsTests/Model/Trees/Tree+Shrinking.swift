extension Tree {
  /// Slightly smaller trees.
  var smaller: [Tree] {
    var smaller = children
    if mayLoseChild {
      for index in children.indices {
        var tree = self
        tree.children.remove(at: index)
        smaller.append(tree)
      }
    }
    if case .leaf(var leaf) = kind, leaf.waiting != .yields(0) {
      leaf.waiting = leaf.waiting == .yields(1) ? .yields(0) : .yields(1)
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
    case .modified(.recovering(let recovering), let children):
      recovering.isList && children.count > 1
    case .leaf, .then, .map, .prioritized, .nested, .named, .erased, .discarding, .modified: false
    }
  }
}

extension ModelReport {
  /// Returns the report about the smallest tree that was found to violate the same rule.
  func smallest() async -> ModelReport {
    var best = self
    var attempts = 3_000
    search: while attempts > 0 {
      for tree in best.modelCase.tree.smaller {
        attempts -= 1
        if attempts == 0 { break search }
        if let report = await best.modelCase.report(of: tree, like: best) {
          best = report
          continue search
        }
      }
      break
    }
    return best
  }
}

extension ModelCase {
  /// Returns the first report about another tree that violates the same rule, in a few orders and
  /// with a few cancellation points.
  fileprivate func report(of tree: Tree, like report: ModelReport) async -> ModelReport? {
    var modelCase = self
    modelCase.tree = tree.withoutImpossibleRivals
    modelCase.computationTimeout = .seconds(1)
    for candidate in cancellation.earlier {
      modelCase.cancellation = candidate
      for order in 0..<4 as Range<UInt64> {
        modelCase.orderSeed = orderSeed &+ order
        let candidateReport = await modelCase.report()
        if candidateReport.rule == report.rule { return candidateReport }
      }
    }
    return nil
  }
}

extension ModelCase.Cancellation {
  /// This cancellation and a few earlier ones.
  fileprivate var earlier: [ModelCase.Cancellation] {
    switch self {
    case .never, .beforeTheStart: [self]
    case .after(let point): [self] + (1...3).map { .after(max(1, point * $0 / 4)) }
    }
  }
}
