import CompositeOperations

extension Flow {
  static let lists = [
    Flow("a crawl that stops at a broken page", limits: ["page": 3]) { stage in
      crawl(stage, .cancelRemaining)
    } complaint: { outcome, stage in
      guard let error = outcome.error as? ParallelOperationError else { return "no error" }
      if error.failures.map(\.index) != [7] { return "\(error)" }
      // The pages after the broken one were in flight with it or never began.
      let begun = stage.begun(by: "page")
      if begun != (0..<begun.count).map({ "page \($0)" }) { return "began as \(begun)" }
      if error.children.count != begun.count {
        return "\(error.children.count) children in the error"
      }
      // At most two of the seven pages before it were in flight with it.
      let lost = error.children.prefix(7).count { $0.outcome.result == nil }
      return lost <= 2 ? nil : "\(lost) pages before the broken one are lost"
    },
    Flow("a crawl that continues after a broken page", limits: ["page": 3]) { stage in
      crawl(stage, .runAll)
    } complaint: { outcome, stage in
      guard let error = outcome.error as? ParallelOperationError else { return "no error" }
      if error.failures.map(\.index) != [7] { return "\(error)" }
      let pages = error.children.compactMap { ($0.outcome.result as? Handle)?.name }
      let expected = (0..<12).filter { $0 != 7 }.map { "page \($0)" }
      return pages == expected ? nil : "the result is \(pages)"
    },
    Flow("messages that are handled when they arrive", limits: ["message": 2, "handling": 1]) {
      stage in
      ParallelOperation(width: .limited(to: 2)) {
        AsyncStream { continuation in
          for index in 0..<7 { continuation.yield(index) }
          continuation.finish()
        }.map { stage.opening("message", $0) }
      } consumingResults: { handle in
        stage.takeOver(handle)
        _ = stage.begin("handling \(handle.number)", in: "handling")
        defer { stage.end("handling \(handle.number)", in: "handling") }
        try await stage.takeTime()
      }
    } complaint: { outcome, stage in
      if outcome.result == nil { return outcome.kind }
      return stage.takenOver.count == 7 ? nil : "handled \(stage.takenOver)"
    },
    Flow("connections, one of which stops three composites deep", limits: ["serial": 1]) { stage in
      let innermost = ParallelOperation([
        stage.opening("deep", 0), stage.ending("deep", 1, in: CancellationError()),
        stage.opening("deep", 2, isStubborn: true),
      ])
      let middle = SequentialOperation(.linear([stage.opening("middle"), innermost]))
      let beside = ParallelOperation((0..<4).map { stage.opening("serial", $0) }, width: .serial)
      return ParallelOperation(
        [
          AnyOperation(middle.map { _ in [] }), AnyOperation(beside),
          AnyOperation(ParallelOperation([stage.opening("beside", isStubborn: true)])),
        ] as [AnyOperation<[Handle]>])
    } complaint: { outcome, _ in
      outcome.isCancelled ? nil : outcome.kind
    },
    Flow("calls of an older interface, collected", limits: ["call": 3]) { stage in
      ParallelOperation(
        [
          stage.calling("call", 0), stage.calling("call", 1),
          stage.ending("call", 2, in: TestError("busy")), stage.calling("call", 3),
          stage.calling("call", 4), stage.calling("call", 5),
        ], width: .limited(to: 3), onFailure: .runAll
      ).collectingOutcomes()
    } complaint: { outcome, _ in
      let kinds = outcome.result?.map { $0.error.map { "\($0)" } ?? $0.result?.name ?? "-" }
      let expected = ["call 0", "call 1", "busy", "call 3", "call 4", "call 5"]
      return kinds == expected ? nil : outcome.kind
    },
  ]

  private static func crawl(_ stage: Stage, _ mode: FailureMode) -> ParallelOperation<[Handle]> {
    ParallelOperation(width: .limited(to: 3), onFailure: mode) {
      (0..<12).lazy.map { index in
        index == 7
          ? stage.ending("page", index, in: TestError("broken")) : stage.opening("page", index)
      }
    }
  }
}
