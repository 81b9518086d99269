// Permits: E1 to E4. A run holds its permits while the modified operation runs.

extension Oracle {
  /// Records a request for permits.
  mutating func requestedPermits(_ run: NodeRun) {
    if run.claims == nil { return }
    // Another run waits for permits that an ancestor of this run holds, and keeps others waiting.
    run.mayBeInCycle = runs.values.contains { other in
      other !== run && other.isWaitingForPermits && !other.claimsAbove.isEmpty
        && run.claimsAbove.contains { held in
          other.claims?.contains { $0.kind == held.kind } == true
        }
    }
  }

  mutating func checkMayBeginTaking(_ claims: [Tree.Claim], below parent: NodeRun) {
    let name = "n\(parent.place.node.id)"
    expect(parent.children.isEmpty, "the operation of \(name) ran twice")
    for claim in claims {
      let count = Tree.permitCounts[claim.kind]
      expect(
        taken(of: claim.kind) + claim.number <= count,
        "E1: \(name) holds \(claim), which were not available")
      let first = overtaken(by: parent, of: claim)
      expect(first == nil, "E1: \(name) holds \(claim), but n\(first ?? 0) requested them earlier")
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
    expect(Set(wanted) == names, "E4: \(name) was refused \(wanted), but requested \(claims)")
    let cannotCome = claims.contains { claim in
      let above = run.claimsAbove.filter { $0.kind == claim.kind }.reduce(0) { $0 + $1.number }
      return above + claim.number > Tree.permitCounts[claim.kind]
    }
    expect(isHeldAbove == cannotCome, "E4: \(name) was refused \(claims) for the wrong reason")
    expect(
      cannotCome || !run.claimsAbove.isEmpty && (order == .partial || run.mayBeInCycle),
      "E4: \(name) was refused \(claims) without a cycle")
  }

  /// The number of permits of a kind that are held.
  private func taken(of kind: Int) -> Int {
    runs.values.filter { $0.isLive && $0.liveChildren > 0 }
      .flatMap { $0.claims ?? [] }.filter { $0.kind == kind }.reduce(0) { $0 + $1.number }
  }

  /// A run that requested permits earlier, still waits, and cannot hold them at the same time as
  /// this run.
  ///
  /// If requests for permits are nested, those in a cycle let others pass.
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
  /// The permits that the run takes, if any.
  fileprivate var claims: [Tree.Claim]? {
    if case .modified(.taking(let claims), _) = place.node.kind { claims } else { nil }
  }

  fileprivate var isWaitingForPermits: Bool { isLive && claims != nil && children.isEmpty }

  /// The permits that its ancestors take.
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
