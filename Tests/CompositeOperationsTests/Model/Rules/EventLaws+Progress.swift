import CompositeOperations

extension EventLaws {
  /// V7 and V8: progress never goes back, and it is complete when the outermost run has ended.
  mutating func readProgress(of events: [OperationEvent]) {
    if events.isEmpty { return }
    let fractions = Log<Double>()
    let progress = ProgressObserver { told in
      if let fraction = told.fraction { fractions.add(fraction) }
    }
    for event in events { progress.observe(event) }
    let told = fractions.entries
    let hasResult = events.contains { event in
      if case .ended(.result, _) = event.kind { event.parent == nil } else { false }
    }
    if hasResult { expect(told.last == 1, "V7: progress ended at \(told.last ?? -1)") }
    expect(
      zip(told, told.dropFirst()).allSatisfy { $0 <= $1 } && told.allSatisfy { 0...1 ~= $0 },
      "V8: progress was \(told)")
  }
}
