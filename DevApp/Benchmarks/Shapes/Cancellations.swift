extension Shape {
  /// One of many waiting children fails: the time from the failure to the outcome.
  static func failure(id: String, count: Int) -> Shape {
    cancellations(
      id: id, title: "one of \(count.grouped) waiting children fails", count: count, .failure)
  }

  /// Many waiting children are cancelled from outside: the time from the cancellation to the
  /// outcome.
  static func cancellation(id: String, count: Int) -> Shape {
    cancellations(
      id: id, title: "\(count.grouped) waiting children are cancelled", count: count, .outside)
  }

  private static func cancellations(
    id: String, title: String, count: Int, _ cause: CancellationScene.Cause
  ) -> Shape {
    var ways = [
      Way(
        "any", .ours,
        sampling: { try await CancellationScene.composite(count: count, cause: cause) }),
      Way(
        "withThrowingTaskGroup", .swift,
        sampling: {
          try await CancellationScene.tasks(count: count, cause: cause, TaskGroups.throwing)
        }),
      Way(
        "discarding task group", .swift,
        sampling: {
          try await CancellationScene.tasks(count: count, cause: cause, TaskGroups.discarding)
        }),
    ]
    // A queue has no first failure, and takes too long for larger counts.
    if cause == .outside, count <= 10_000 {
      ways.append(
        .blocking(
          "OperationQueue, asynchronous", .swift,
          sampling: {
            CancellationScene.queue(count: count)
          }))
    }
    return Shape(id: id, title: title, operations: count, unit: .milliseconds, ways: ways)
  }
}
