// Permits: E1 to E4. Whoever takes permits has them while what it modifies runs.

extension Oracle {
  /// Permits are to be asked for.
  mutating func requestedPermits(_ run: NodeRun) {
    if run.claims == nil { return }
    // Somebody who waits for some of what is held above this one, and keeps others waiting.
    run.mayBeInCycle = runs.values.contains { other in
      other !== run && other.isWaitingForPermits && !other.claimsAbove.isEmpty
        && run.claimsAbove.contains { held in
          other.claims?.contains { $0.kind == held.kind } == true
        }
    }
  }

  mutating func checkMayBeginTaking(_ claims: [Tree.Claim], below parent: NodeRun) {
    let name = "n\(parent.place.node.id)"
    expect(parent.children.isEmpty, "what \(name) modifies ran twice")
    for claim in claims {
      let count = Tree.permitCounts[claim.kind]
      expect(
        taken(of: claim.kind) + claim.number <= count,
        "E1: \(name) has \(claim), which were not left")
      let first = overtaken(by: parent, of: claim)
      expect(first == nil, "E1: \(name) has \(claim), and n\(first ?? 0) came before it")
    }
  }

  mutating func checkTakingOutcome(
    _ body: ShownOutcome, _ claims: [Tree.Claim], _ run: NodeRun
  ) {
    let name = "n\(run.place.node.id)"
    if !run.children.isEmpty { return checkModifiedOutcome(body, run) }
    guard case .error(.permits(let wanted, let isHeldAbove)) = body else {
      return neverBegan(below: run, body)
    }
    let names = Set(claims.map { Tree.permitName($0.kind) })
    expect(Set(wanted) == names, "E4: \(name) was refused \(wanted), and wanted \(claims)")
    let cannotCome = claims.contains { claim in
      let above = run.claimsAbove.filter { $0.kind == claim.kind }.reduce(0) { $0 + $1.number }
      return above + claim.number > Tree.permitCounts[claim.kind]
    }
    expect(isHeldAbove == cannotCome, "E4: \(name) was refused \(claims) for the wrong reason")
    expect(
      cannotCome || !run.claimsAbove.isEmpty && (order == .partial || run.mayBeInCycle),
      "E4: \(name) was refused \(claims), and there was no circle")
  }

  /// How many permits of a kind somebody has.
  private func taken(of kind: Int) -> Int {
    runs.values.filter { $0.isLive && $0.liveChildren > 0 }
      .flatMap { $0.claims ?? [] }.filter { $0.kind == kind }.reduce(0) { $0 + $1.number }
  }

  /// Somebody who came earlier, still waits, and could not have its permits beside this one.
  ///
  /// Where permits are taken within one another, those in a circle let others pass.
  private func overtaken(by run: NodeRun, of claim: Tree.Claim) -> Int? {
    if order == .partial || nestsPermits || isCancellationRequested { return nil }
    let left = Tree.permitCounts[claim.kind] - taken(of: claim.kind) - claim.number
    let first = runs.values.first { other in
      other !== run && other.isWaitingForPermits && other.beginning < run.beginning
        && !hasReason(toCancel: other)
        && other.claims?.contains { $0.kind == claim.kind && $0.number > left } == true
    }
    return first?.place.node.id
  }
}

extension NodeRun {
  /// The permits that it takes, if it does.
  fileprivate var claims: [Tree.Claim]? {
    if case .modified(.taking(let claims), _) = place.node.kind { claims } else { nil }
  }

  fileprivate var isWaitingForPermits: Bool { isLive && claims != nil && children.isEmpty }

  /// What those have that it is part of.
  fileprivate var claimsAbove: [Tree.Claim] {
    var claims: [Tree.Claim] = []
    var run = parent
    while let above = run {
      claims += above.claims ?? []
      run = above.parent
    }
    return claims
  }
}
