extension Tree.Leaf {
  /// What a body does without suspending.
  enum Computing: Sendable, Equatable {
    /// It lets so many moments of the clock pass.
    case moments(Int)
    /// It goes on until another leaf has begun, or it is cancelled.
    case untilBegun(Int)
    /// It goes on until it is cancelled, because another leaf has ended.
    case untilCancelled(by: Int)

    /// The leaf that is to run meanwhile, by its number.
    var rival: Int? {
      switch self {
      case .moments: nil
      case .untilBegun(let leaf), .untilCancelled(let leaf): leaf
      }
    }
  }
}

extension Tree {
  /// Whether a leaf computes until another one has done something.
  var hasRival: Bool {
    if case .leaf(let leaf) = kind { return leaf.computing?.rival != nil }
    return children.contains { $0.hasRival }
  }

  /// The same with one leaf that computes until another one has done something, if there can be one.
  func withRival(_ chance: inout Chance) -> Tree {
    let rivalries = rivalries
    if rivalries.isEmpty { return self }
    let (leaf, computing) = rivalries[chance.number(0...(rivalries.count - 1))]
    return setting(computing, at: leaf)
  }

  /// The same without leaves that would wait in vain for what another one does.
  var withoutVainRivals: Tree {
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

  /// Who may compute in the whole tree, and until what.
  ///
  /// Only one leaf of a tree does, so that there is a thread for everything else.
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

  /// The leaf that it is, whatever it is called, if its run waits for its body.
  private var plainLeaf: (id: Int, leaf: Leaf)? {
    switch kind {
    case .leaf(let leaf): leaf.isLeftAfter == nil ? (id, leaf) : nil
    case .named(let base), .erased(let base), .discarding(let base): base.plainLeaf
    default: nil
    }
  }
}

extension Tree.List {
  /// The place of the child in whose place there is an error.
  fileprivate var isFailingAt: Int? {
    if case .arriving(let index) = form { index } else { nil }
  }
}
