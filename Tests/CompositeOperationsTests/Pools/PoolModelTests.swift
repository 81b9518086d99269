import Testing

/// Checks random programs over pools against the rules, which `PoolJudge` implements.
@Suite struct PoolModelTests {
  @Test func `W1 to W8: random programs on one worker follow the rules exactly`() async {
    for seed in 0..<UInt64(Scale.cases(10_000)) {
      let findings = await PoolTrial(seed: seed).findingsOnOneWorker()
      if let first = findings.first {
        Issue.record("seed \(seed): \(first)")
        return
      }
    }
  }

  @Test func `W1 to W8: random programs on all workers do only what the rules allow`() async {
    for seed in 0..<UInt64(Scale.cases(10_000)) {
      let findings = await PoolTrial(seed: seed).findingsOnAllWorkers()
      if let first = findings.first {
        Issue.record("seed \(seed): \(first)")
        return
      }
    }
  }

  @Test(.enabled(if: ModelSettings.soak > .zero))
  func `Model: random programs over pools with new seeds follow the rules`() async {
    let end = ContinuousClock.now + ModelSettings.soak
    let first = UInt64.random(in: 1 << 32..<1 << 62)
    var seed = first
    while ContinuousClock.now < end {
      let trial = PoolTrial(seed: seed)
      let findings = await trial.findingsOnOneWorker() + trial.findingsOnAllWorkers()
      if let finding = findings.first {
        Issue.record("seed \(seed): \(finding)")
        return
      }
      seed += 1
    }
    print("checked \(2 * (seed - first)) programs, beginning with seed \(first)")
  }
}
