// Times that never come, and times that are over at once: T1 and T2.

extension Judge {
  mutating func timingOutMustComeTo(_ body: ShownOutcome, _ limit: Tree.Limit, _ run: NodeRun) {
    if limit == .never { return modifiedMustComeTo(body, run) }
    let name = "n\(run.place.node.id)"
    expect(run.children.isEmpty, "T2: the body of \(name) began, and there was no time")
    // A cancellation comes before the end of the time.
    let isCancelled = body == .error(.cancellation) && run.isKnownCancelled
    let modified = place(ofChild: 0, of: run.place.node.id)?.name ?? ""
    expect(
      isCancelled || body == .error(.timeout(modified)),
      "T2: \(name) had no time, and came to \(body)")
  }
}
