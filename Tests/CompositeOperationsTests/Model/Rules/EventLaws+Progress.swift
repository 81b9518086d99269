import CompositeOperations

extension EventLaws {
  /// V7 and V8: progress never decreases, and is complete when the outermost run has ended in a
  /// result.
  mutating func readProgress(of events: [OperationEvent]) {
    if events.isEmpty { return }
    let fractions = Log<Double>()
    let progress = ProgressObserver { reported in
      if let fraction = reported.fraction { fractions.add(fraction) }
    }
    for event in events { progress.observe(event) }
    let reported = fractions.entries
    let hasResult = events.contains { event in
      if case .ended(.result, _) = event.kind { event.parent == nil } else { false }
    }
    if hasResult { expect(reported.last == 1, "V7: progress ended at \(reported.last ?? -1)") }
    expect(
      zip(reported, reported.dropFirst()).allSatisfy { $0 <= $1 }
        && reported.allSatisfy { 0...1 ~= $0 },
      "V8: progress was \(reported)")
  }
}
