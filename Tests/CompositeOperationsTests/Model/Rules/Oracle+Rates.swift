// Rates: E5. A rate is a token bucket that is full at first, and receives another token after every
// share of its period.

/// The state of a rate.
struct RateState {
  let rate: Tree.Rate
  /// The tick at which the bucket is full again.
  var full = 0
  var begun = 0

  init(of rate: Tree.Rate) { self.rate = rate }
}

extension Oracle {
  mutating func checkMayBeginThrottled(by kind: Int, below parent: NodeRun) {
    let name = "n\(parent.place.node.id)"
    let rate = rates[kind].rate
    rates[kind].begun += 1
    guard order == .total else {
      // With several workers a run that has taken a token can begin later.
      let most = rate.count + tick / rate.share
      return expect(rates[kind].begun <= most, "E5: \(name) began as one of more than \(most)")
    }
    expect(
      rates[kind].full - tick <= rate.period - rate.share, "E5: \(name) began without a token")
    rates[kind].full = max(rates[kind].full, tick) + rate.share
    let first = runs.values.first { other in
      other !== parent && other.isLive && other.children.isEmpty && other.isThrottled(by: kind)
        && other.beginning < parent.beginning && !hasReason(toCancel: other)
    }
    expect(
      first == nil, "E5: \(name) began before n\(first?.place.node.id ?? 0), which came earlier")
  }
}

extension NodeRun {
  fileprivate func isThrottled(by kind: Int) -> Bool {
    if case .modified(.throttled(kind), _) = place.node.kind { true } else { false }
  }
}
