import CompositeOperations
import Dispatch

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
        observed("trace recorder", operation) { TraceRecorder() },
        observed("recorder of everything", operation) { RecordingObserver() },
        Way("nobody observes", .ours) { try await operation.value.run().get().sum },
      ])
  }

  /// What it takes to record an event that is there.
  static func recording(count: Int) -> Shape {
    let events = Prepared { () -> [OperationEvent] in
      let recorder = RecordingObserver()
      let list = ParallelOperation((0..<count).map { mixed($0) }, width: .serial)
      let done = DispatchSemaphore(value: 0)
      Task {
        _ = await list.run(in: OperationEnvironment(observers: [recorder]))
        done.signal()
      }
      done.wait()
      return recorder.events
    }
    func replayed(
      _ name: String, by makeObserver: @escaping @Sendable () -> any OperationObserver
    ) -> Way {
      Way(name, .ours) {
        let observer = makeObserver()
        for event in events.value { observer.observe(event) }
        return UInt64(events.value.count)
      }
    }
    return Shape(
      id: "recording", title: "\((4 * count).grouped) events that are there, recorded",
      operations: 4 * count, unit: .nanosecondsPerEvent,
      ways: [
        replayed("trace recorder") { TraceRecorder() },
        replayed("progress") { ProgressObserver() },
        replayed("observer that does nothing") { IdleObserver() },
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
