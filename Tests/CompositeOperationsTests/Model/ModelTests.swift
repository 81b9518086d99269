import Testing

/// Checks random trees of operations against the rules, which `Rules` implements as plain code.
///
/// A failure shows the seed, the smallest failing tree that was found, and its log. This command
/// runs the seed again: `COMPOSITE_MODEL_SEED=one-17 make test FILTER=ModelTests`.
/// With `COMPOSITE_SOAK_SECONDS=600`, the tests also run new random seeds for 600 seconds.
@Suite struct ModelTests {
  @Test(arguments: Batch.all(of: .one, trees: 16_000))
  func `Model: random trees on one worker do exactly what the rules say`(batch: Batch) async {
    await batch.run()
  }

  @Test(arguments: Batch.all(of: .all, trees: 6_000))
  func `Model: random trees on all workers do what the rules allow`(batch: Batch) async {
    await batch.run()
  }

  @Test func `C5: on one worker, the same seed gives the same log`() async {
    for seed in 0..<500 as Range<UInt64> {
      let modelCase = ModelCase(seed: seed, workers: .one)
      let first = await modelCase.report()
      let second = await modelCase.report()
      #expect(first.entries == second.entries, "\(first)\n\(second)")
    }
  }

  @Test func `Model: random trees cover every situation in the rules`() async {
    var coverage = Coverage()
    let count = Scale.cases(20_000)
    for seed in 0..<UInt64(count) {
      coverage.add(await ModelCase(seed: seed, workers: .one).report())
    }
    for situation in Coverage.Situation.allCases {
      #expect(coverage.counts[situation, default: 0] >= count / 1_000, "\(situation)")
    }
  }

  @Test(.enabled(if: ModelSettings.soak > .zero))
  func `Model: random trees with new seeds, for the requested time`() async {
    let end = ContinuousClock.now + ModelSettings.soak
    var seed = UInt64.random(in: 1 << 32..<1 << 62)
    var count = 0
    while ContinuousClock.now < end {
      for workers in ModelCase.Workers.allCases {
        await Batch(workers: workers, seeds: seed..<(seed + 200)).run()
      }
      seed += 200
      count += 400
    }
    print("The model has checked \(count) trees, beginning with seed \(seed - UInt64(count / 2)).")
  }

  @Test(.enabled(if: ModelSettings.caseToReproduce != nil))
  func `Model: the case of the requested seed`() async throws {
    let modelCase = try #require(ModelSettings.caseToReproduce)
    // On all workers the log differs between runs, so the case runs up to 100 times.
    for _ in 0..<(modelCase.workers == .one ? 1 : 100) {
      let report = await modelCase.report()
      if modelCase.workers == .one { print(report) }
      if report.rule != nil { return await report.record() }
    }
  }
}
