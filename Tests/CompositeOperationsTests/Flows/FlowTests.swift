import CompositeOperations
import Testing

/// Runs whole flows under many schedules, and cancels them after every job.
@Suite struct FlowTests {
  @Test(arguments: Flow.all)
  func `P2, S3, O3: a flow ends under every schedule, and no value is lost`(flow: Flow) throws {
    var stories: Set<[String]> = []
    for seed in 0..<300 as Range<UInt64> {
      let play = Play(flow, seed: seed)
      try #require(play.findings.isEmpty, "\(play)")
      stories.insert(play.stage.lines.map(\.text))
    }
    // Otherwise, the seeds would cover too few schedules.
    #expect(stories.count >= 20)
  }

  @Test(arguments: Flow.all)
  func `O3, C5: a flow that is cancelled after any job ends as cancelled, and no value is lost`(
    flow: Flow
  )
    throws
  {
    for seed in 0..<3 as Range<UInt64> {
      let uncancelled = Play(flow, seed: seed)
      let jobs = uncancelled.stage.jobs
      for job in 0...jobs {
        let play = Play(flow, seed: seed, cancelledAfter: job)
        try #require(play.findings.isEmpty, "\(play)")
        try #require(play.isRightlyEnded(comparedWith: uncancelled), "\(play)")
        let before = uncancelled.stage.lines.filter { $0.job <= job }
        try #require(play.stage.lines.filter { $0.job <= job } == before, "\(play)")
        let again = Play(flow, seed: seed, cancelledAfter: job)
        try #require(play.stage.lines == again.stage.lines, "\(play)\n\(again)")
        try #require(play.outcome?.kind == again.outcome?.kind, "\(play)\n\(again)")
      }
    }
  }
}

extension Play {
  /// Whether the run ended as cancelled if the cancellation was in time, and otherwise as without a
  /// cancellation.
  fileprivate func isRightlyEnded(comparedWith uncancelled: Play) -> Bool {
    guard let cancellation, let outcome else { return false }
    if cancellation < uncancelled.firstPossibleEnd { return outcome.isCancelled }
    let isUnchanged = outcome.kind == uncancelled.outcome?.kind
    return isUnchanged || cancellation < uncancelled.lastPossibleEnd && outcome.isCancelled
  }
}
