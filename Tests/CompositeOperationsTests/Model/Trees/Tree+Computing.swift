extension Tree.Leaf {
  /// The computation of a body that does not suspend.
  enum Computing: Sendable, Equatable {
    /// Advances the clock by this number of ticks.
    case ticks(Int)
    /// Until another leaf has begun, or the body is cancelled.
    case untilBegun(Int)
    /// Until the body is cancelled, because another leaf has ended.
    case untilCancelled(by: Int)

    /// The number of the leaf that has to run at the same time.
    var rival: Int? {
      switch self {
      case .ticks: nil
      case .untilBegun(let leaf), .untilCancelled(let leaf): leaf
      }
    }
  }
}

extension Tree {
  /// Whether a leaf computes until another leaf has begun or ended.
  var hasRival: Bool {
    if case .leaf(let leaf) = kind { return leaf.computing?.rival != nil }
    return children.contains { $0.hasRival }
  }

  /// Returns a copy with a leaf that computes until another leaf has begun or ended, if possible.
  func withRival(_ chance: inout Chance) -> Tree {
    let rivalries = rivalries
    if rivalries.isEmpty { return self }
    let (leaf, computing) = rivalries[chance.number(0...(rivalries.count - 1))]
    return setting(computing, at: leaf)
  }

  /// A copy without computations that wait for an event that cannot occur.
  var withoutImpossibleRivals: Tree {
    let rivalries = rivalries
    var tree = self
    for leaf in leaves {
      guard let computing = leaf.leaf.computing, computing.rival != nil,
        !rivalries.contains(where: { $0 == (leaf.id, computing) })
      else { continue }
      tree = tree.setting(nil, at: leaf.id)
    }
    return tree
  }

  private func setting(_ computing: Leaf.Computing?, at id: Int) -> Tree {
    var tree = self
    if case .leaf(var leaf) = kind, self.id == id {
      leaf.computing = computing
      tree.kind = .leaf(leaf)
    }
    tree.children = children.map { $0.setting(computing, at: id) }
    return tree
  }

  private var leaves: [(id: Int, leaf: Leaf)] {
    if case .leaf(let leaf) = kind { return [(id, leaf)] }
    return children.flatMap { $0.leaves }
  }

  // MARK: Rivals

  /// The leaves of the tree that may compute, and until when.
  ///
  /// Only one leaf of a tree computes, so that a thread is left for everything else.
  private var rivalries: [(Int, Leaf.Computing)] {
    let own: [(Int, Leaf.Computing)] =
      switch kind {
      case .list(let list, let children) where list.width != 1:
        Self.rivalries(
          among: list.isFailingAt.map { Array(children.prefix($0)) } ?? children,
          cancellingEnd: list.runsAll || list.collectsOutcomes ? nil : .error)
      case .race(_, let children): Self.rivalries(among: children, cancellingEnd: .value)
      default: []
      }
    return own + children.flatMap { $0.rivalries }
  }

  /// - Parameter cancellingEnd: The end of a child that cancels the others.
  private static func rivalries(
    among children: [Tree], cancellingEnd: Leaf.End?
  ) -> [(Int, Leaf.Computing)] {
    let leaves = children.compactMap { $0.plainLeaf }
    return leaves.flatMap { own in
      leaves.filter { $0.id != own.id }.flatMap { rival in
        var rivalries = [(own.id, Leaf.Computing.untilBegun(rival.id))]
        if rival.leaf.end == cancellingEnd {
          rivalries.append((own.id, .untilCancelled(by: rival.id)))
        }
        return rivalries
      }
    }
  }

  /// The leaf without the nodes that only change how it appears, if its run waits for its body.
  private var plainLeaf: (id: Int, leaf: Leaf)? {
    switch kind {
    case .leaf(let leaf): leaf.abandonedAfter == nil ? (id, leaf) : nil
    case .named(let base), .erased(let base), .discarding(let base): base.plainLeaf
    default: nil
    }
  }
}

extension Tree.List {
  /// The index of the child that is replaced by an error.
  fileprivate var isFailingAt: Int? {
    if case .arriving(let index) = form { index } else { nil }
  }
}
