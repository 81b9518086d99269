import Testing

/// Checks random graphs against the rules, which `GraphJudge` implements.
@Suite struct GraphModelTests {
  @Test(arguments: [true, false])
  func `G1 to G5: random graphs follow the rules`(onOneWorker: Bool) async {
    for seed in 0..<UInt64(Scale.cases(10_000)) {
      let findings = await GraphTrial(seed: seed).findings(onOneWorker: onOneWorker)
      if let first = findings.first {
        Issue.record("seed \(seed): \(first)")
        return
      }
    }
  }

  @Test(.enabled(if: ModelSettings.soak > .zero))
  func `Model: random graphs with new seeds follow the rules`() async {
    let end = ContinuousClock.now + ModelSettings.soak
    let first = UInt64.random(in: 1 << 32..<1 << 62)
    var seed = first
    while ContinuousClock.now < end {
      for onOneWorker in [true, false] {
        let findings = await GraphTrial(seed: seed).findings(onOneWorker: onOneWorker)
        if let finding = findings.first {
          Issue.record("seed \(seed): \(finding)")
          return
        }
      }
      seed += 1
    }
    print("checked \(2 * (seed - first)) graphs, beginning with seed \(first)")
  }
}
