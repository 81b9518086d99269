import CompositeOperations

extension Shape {
  /// Operations that do not wait, in parallel, from each form of the list.
  static func fanOut(
    id: String, count: Int, steps: Int = 0, peerShapes: [String] = []
  ) -> Shape {
    let lists = OperationLists(count: count, steps: steps)
    let body = steps == 0 ? "empty" : "1 µs"
    return Shape(
      id: id, title: "\(count.grouped) \(body) operations side by side", operations: count,
      peerShapes: peerShapes,
      ways: ours(lists) + tasks(lists.any) + queues(count: count, steps: steps)
        + PhysicalLimit.ways(count: count, steps: steps))
  }

  private static func ours(_ lists: OperationLists) -> [Way] {
    [
      parallel("any") { ParallelOperation(lists.any.value) },
      parallel("generic") { ParallelOperation(lists.generic.value) },
      parallel("any, in runs of one type") { ParallelOperation(lists.runs.value) },
      parallel("closures") { ParallelOperation(lists.closures.value) },
      parallel("classes") { ParallelOperation(lists.classes.value) },
      parallel("synchronous bodies") { ParallelOperation(lists.synchronous.value) },
      parallel("any, serial") { ParallelOperation(lists.any.value, width: .serial) },
      parallel("any, 64 wide") { ParallelOperation(lists.any.value, width: .limited(to: 64)) },
    ]
  }

  /// Creates a way whose composite is made before it is timed.
  static func parallel(
    _ name: String, _ make: @escaping @Sendable () -> ParallelOperation<[UInt64]>
  ) -> Way {
    let operation = Prepared(make)
    return Way(name, .ours) { try await operation.value.run().get().sum }
  }

  /// Creates ways with loops and groups of Swift's tasks over a list.
  static func tasks(_ list: Prepared<[any ComposableOperation<UInt64>]>) -> [Way] {
    [
      Way("direct loop", .plain) { try await DirectLoop.run(list.value).sum },
      Way("withThrowingTaskGroup", .swift) { try await TaskGroups.throwing(list.value).sum },
      Way("discarding task group", .swift) { try await TaskGroups.discarding(list.value).sum },
      Way("discarding group, immediate tasks", .swift) {
        try await TaskGroups.immediate(list.value).sum
      },
      Way("sliding window, 2 wide", .swift) { try await TaskGroups.window(2, list.value).sum },
      Way("sliding window, 64 wide", .swift) { try await TaskGroups.window(64, list.value).sum },
    ]
  }

  private static func queues(count: Int, steps: Int) -> [Way] {
    // A million blocks take seconds and gigabytes.
    if count > 100_000 {
      return [
        .blocking("concurrentPerform", .swift) {
          Queues.concurrentPerform(count: count, steps: steps)
        }
      ]
    }
    return [
      .blocking("OperationQueue, blocks", .swift) {
        Queues.blockOperations(count: count, steps: steps)
      },
      .blocking("OperationQueue, asynchronous", .swift) {
        Queues.asynchronousOperations(count: count, steps: steps)
      },
      .blocking("concurrentPerform", .swift) {
        Queues.concurrentPerform(count: count, steps: steps)
      },
      .blocking("DispatchGroup", .swift) { Queues.dispatchGroup(count: count, steps: steps) },
    ]
  }
}
