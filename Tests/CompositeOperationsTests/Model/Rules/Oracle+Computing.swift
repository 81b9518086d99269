// Bodies that compute without suspending: P3, P6 and P7; and loops of such bodies: S8.

extension Oracle {
  /// The most steps that a loop runs without suspending: a few untimed steps at first, and then a
  /// fixed number.
  private static let mostStepsInJob = 4 + 64

  /// P3, P6 and P7: another body can begin, and can cancel this one, while this one computes.
  mutating func computationTimedOut(_ node: Int) {
    guard case .leaf(let leaf) = places[node]?.node.kind else { return }
    switch leaf.computing {
    case .untilBegun(let rival):
      expect(false, "P6: n\(node) computed, and n\(rival) did not begin meanwhile")
    case .untilCancelled(let rival):
      expect(false, "P3, P7: n\(node) computed, and the end of n\(rival) did not cancel it")
    case .ticks, nil: expect(false, "n\(node) reached its computation timeout without a rival")
    }
  }

  /// S8: a loop of operations that do not suspend yields regularly.
  mutating func checkYields(below parent: NodeRun) {
    guard order == .total, parent.isLoop else { return }
    if parent.jobOfSteps != job { parent.stepsInJob = 0 }
    parent.jobOfSteps = job
    parent.stepsInJob += 1
    expect(
      parent.stepsInJob <= Self.mostStepsInJob,
      "S8: n\(parent.place.node.id) ran \(parent.stepsInJob) steps without yielding")
  }
}

extension NodeRun {
  fileprivate var isLoop: Bool {
    switch place.node.kind {
    case .sequence, .modified(.repeating, _), .modified(.retrying, _): true
    case .modified(.recovering(let recovering), _): recovering.isList
    default: false
    }
  }
}
