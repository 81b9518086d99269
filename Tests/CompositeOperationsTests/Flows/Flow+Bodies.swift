import CompositeOperations

extension Flow {
  static let all = lists + sequences + bodies

  static let bodies = [
    Flow("a transfer written as one body", limits: ["block": 3]) { stage in
      Transfer(stage: stage)
    } complaint: { outcome, stage in
      if outcome.result != 5 { return outcome.kind }
      return stage.takenOver.map(\.name) == ["source 0"] ? nil : "used \(stage.takenOver)"
    }
  ]
}

/// Opens a source, falls back if there is no target, and copies blocks from the source to the
/// target.
private struct Transfer: ComposableOperation {
  let stage: Stage

  func perform(in context: OperationContext) async throws -> Int {
    stage.takeOver(try await context.run(stage.opening("source")))
    let target = await context.outcome(of: stage.ending("target", in: TestError("read-only")))
    try Task.checkCancellation()
    guard target.error != nil else { return 0 }
    let blocks = ParallelOperation(
      (0..<5).map { index in stage.work("block", index, isStubborn: index == 1) { _ in 1 } },
      width: .limited(to: 3))
    return try await context.run(blocks.map { $0.reduce(0, +) })
  }
}
