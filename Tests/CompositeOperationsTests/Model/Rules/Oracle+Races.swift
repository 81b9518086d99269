// Races: P7.

extension Oracle {
  mutating func checkRaceOutcome(_ body: ShownOutcome, _ count: Int, _ run: NodeRun) {
    let name = "n\(run.place.node.id)"
    checkOmittedChildren(count - run.children.count, run)
    switch body {
    case .result:
      let results = run.children.filter { presumedOutcome(of: $0).isResult }
        .sorted { ($0.end?.time ?? 0) < ($1.end?.time ?? 0) }
      let winner =
        order == .total ? results.first : results.first { presumedOutcome(of: $0) == body }
      guard let winner else { return expect(false, "P7: \(name) has a result, but no winner") }
      settle(winner, as: body)
      run.held = winner.discardableValues
      let losers = run.children.filter { $0 !== winner }
      for loser in losers { settle(loser) }
      expectDiscards(of: losers.carried)
    case .error(.parallel(let parallelError)):
      checkParallelError(parallelError, of: count...count, run)
      expect(
        !run.children.contains { $0.outcome?.isResult == true },
        "P7: \(name) failed, but has a winner")
      run.held = run.children.carried
    case .error(.cancellation) where order == .partial && run.children.isEmpty:
      expect(run.isKnownCancelled, "P7: \(name) stopped without a cancellation")
    case .error, .cancelled: expect(false, "P7: \(name) cannot end as \(body)")
    }
  }
}
