import CompositeOperations

extension Builder {
  static func makePermits() -> [Permits] {
    Tree.permitCounts.enumerated().map { kind, count in
      Permits(count, name: Tree.permitName(kind))
    }
  }

  /// Whether all permits are available, and no run waits for any.
  var areAllPermitsBack: Bool {
    permits.allSatisfy { $0.leftCount == $0.count && $0.waitingCount == 0 }
  }

  /// Takes permits of one kind, or of two kinds by one modifier or by adjacent modifiers.
  func taking(
    _ claims: [Tree.Claim], _ base: some ComposableOperation<ShownValue>, at node: Int
  ) -> AnyShown {
    let (first, last) = (claims[0], claims[claims.count - 1])
    switch (claims.count, first.wanted, last.wanted) {
    case (1, nil, _): return recorded(base.exclusive(in: permits[first.kind]), at: node)
    case (1, let number?, _):
      return recorded(base.limited(by: permits[first.kind], taking: number), at: node)
    case (_, nil, nil):
      return recorded(base.exclusive(in: permits[first.kind], permits[last.kind]), at: node)
    case (_, _, nil):
      return recorded(
        base.limited(by: permits[first.kind], taking: first.number)
          .exclusive(in: permits[last.kind]), at: node)
    case (_, _, let number?):
      return recorded(
        base.limited(by: permits[first.kind], taking: first.number)
          .limited(by: permits[last.kind], taking: number), at: node)
    }
  }
}
