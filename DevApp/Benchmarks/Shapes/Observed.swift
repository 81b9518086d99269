import CompositeOperations

extension Shape {
  /// A fan-out that is observed, beside the same that is not.
  static func observed(id: String, count: Int, steps: Int = 0) -> Shape {
    let operation = Prepared { () -> ParallelOperation<[UInt64]> in
      ParallelOperation((0..<count).map { mixed($0, steps: steps) })
    }
    return Shape(
      id: id, title: "\(count.grouped) \(steps == 0 ? "empty" : "1 µs") operations, observed",
      operations: count,
      ways: [
        Way("nobody observes", .ours) { try await operation.value.run().get().sum },
        observed("observer that does nothing", operation) { IdleObserver() },
        observed("observer with a clock and a count", operation) { TimingObserver() },
        observed("recorder of everything", operation) { RecordingObserver() },
      ])
  }

  /// What one event costs: a child of a composite has four, and one core does them all.
  static func events(count: Int) -> Shape {
    let operation = Prepared { () -> ParallelOperation<[UInt64]> in
      ParallelOperation((0..<count).map { mixed($0) }, width: .serial)
    }
    return Shape(
      id: "events", title: "\((4 * count).grouped) events of \(count.grouped) empty operations",
      operations: 4 * count, unit: .nanosecondsPerEvent,
      ways: [
        observed("observer with a clock and a count", operation) { TimingObserver() },
        observed("observer that does nothing", operation) { IdleObserver() },
        observed("recorder of everything", operation) { RecordingObserver() },
        Way("nobody observes", .ours) { try await operation.value.run().get().sum },
      ])
  }

  private static func observed(
    _ name: String, _ operation: Prepared<ParallelOperation<[UInt64]>>,
    by makeObserver: @escaping @Sendable () -> any OperationObserver
  ) -> Way {
    Way(name, .ours) {
      let environment = OperationEnvironment(observers: [makeObserver()])
      return try await operation.value.run(in: environment).get().sum
    }
  }
}
