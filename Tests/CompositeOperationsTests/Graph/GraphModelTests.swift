import Testing

/// Random graphs against the rules, which `GraphJudge` tells in plain code.
@Suite struct GraphModelTests {
  @Test(arguments: [true, false])
  func `G1 to G5: random graphs do what the rules say`(onOneWorker: Bool) async {
    for seed in 0..<UInt64(ModelSettings.scaled(10_000)) {
      let findings = await GraphTrial(seed: seed).findings(onOneWorker: onOneWorker)
      if let first = findings.first {
        Issue.record("seed \(seed): \(first)")
        return
      }
    }
  }
}
