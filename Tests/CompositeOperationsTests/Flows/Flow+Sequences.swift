import CompositeOperations

extension Flow {
  static let sequences = [
    Flow("list, fetch each, decide, save with a retry", limits: ["fetch": 2, "attempt": 1]) {
      stage in
      SequentialOperation(Sync(stage: stage))
    } complaint: { outcome, _ in
      guard let steps = outcome.result else { return outcome.kind }
      let names = steps.map { "\($0.name) \($0.error == nil ? "ended" : "failed")" }
      if names != ["list 0 ended", "fetches ended", "save 0 failed", "save 0 ended"] {
        return "\(names)"
      }
      let fetched = steps[1].result(as: [Handle].self)?.map(\.name)
      return fetched == (0..<5).map { "fetch \($0)" } ? nil : "fetched \(fetched ?? [])"
    },
    Flow("a race of mirrors with fallbacks", limits: ["cache": 0]) { stage in
      RaceOperation([
        stage.ending("mirror", 0, in: TestError("down")),
        stage.ending("mirror", 1, in: CancellationError()),
      ]).fallingBack(toEachOf: [
        RaceOperation([
          stage.opening("mirror", 2), stage.opening("mirror", 3, isStubborn: true),
          stage.opening("mirror", 4, failures: 1), stage.opening("mirror", 5),
        ]),
        stage.opening("cache"),
      ])
    } complaint: { outcome, stage in
      guard let winner = outcome.result else { return outcome.kind }
      return ["mirror 2", "mirror 3", "mirror 5"].contains(winner.name) ? nil : "\(winner) won"
    },
    Flow("attempts that all fail, each with a part done", limits: ["part": 2]) { stage in
      let attempt = ParallelOperation(
        [
          stage.opening("part", 0), stage.ending("part", 1, in: TestError("full")),
          stage.opening("part", 2),
        ], width: .limited(to: 2), onFailure: .runAll)
      return attempt.retrying(attempts: 3)
    } complaint: { outcome, _ in
      guard let error = outcome.error as? RetryError else { return outcome.kind }
      let handles = error.errors.map { Outcome.error($0).handles.map(\.name) }
      let each = ["part 0", "part 2"]
      return handles == [each, each, each] ? nil : "left \(handles)"
    },
    Flow("attempts, the last of which succeeds", limits: ["part": 2]) { stage in
      let attempt = ParallelOperation(
        [
          stage.opening("part", 0), stage.opening("part", 1, failures: 2),
          stage.opening("part", 2, isStubborn: true),
        ], width: .limited(to: 2), onFailure: .runAll)
      return attempt.retrying(attempts: 3)
    } complaint: { outcome, stage in
      if outcome.result?.map(\.name) != (0..<3).map({ "part \($0)" }) { return outcome.kind }
      // The handles of failed attempts are part of no outcome.
      return stage.discarded.count == 4 ? nil : "discarded \(stage.discarded)"
    },
    Flow("polling until it is ready, then two operations at once", limits: ["ask": 1]) { stage in
      let ask = stage.work("ask") { $0 }
      return ask.repeating { $0 == 4 }.then { asked in
        let reports = ParallelOperation((0..<4).map { stage.work("report", $0) { _ in asked } })
        return ParallelOperation(reports.map { $0.reduce(0, +) }, stage.opening("file"))
      }
    } complaint: { outcome, _ in
      outcome.result.map { $0.0 == 16 && $0.1.name == "file 0" } == true ? nil : outcome.kind
    },
  ]
}

/// Lists items, fetches each and saves; the first failure to save is retried.
private struct Sync: OperationSequence {
  let stage: Stage

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    guard let previous else { return stage.work("list") { _ in [0, 1, 2, 3, 4] } }
    if let items = previous.result(as: [Int].self) {
      return ParallelOperation(
        items.map { item in
          stage.opening("fetch", item, failures: item % 2).retrying(attempts: 2)
        }, width: .limited(to: 2)
      ).named("fetches")
    }
    for handle in previous.result(as: [Handle].self) ?? [] { stage.takeOver(handle) }
    let save = stage.work("save") { attempt in
      if attempt == 1 { throw TestError("locked") }
    }
    return previous.error != nil || previous.name == "fetches" ? save : nil
  }
}
