import CompositeOperations
import Dispatch
import OperationTracing

extension Shape {
  /// A fan-out with observers, beside the same without.
  static func observed(id: String, count: Int, steps: Int = 0) -> Shape {
    let list = Prepared { (0..<count).map { mixed($0, steps: steps) } }
    let operation = Prepared { ParallelOperation(list.value) }
    return Shape(
      id: id, title: "\(count.grouped) \(steps == 0 ? "empty" : "1 µs") operations, observed",
      operations: count, hasEqualWays: false,
      ways: [
        Way("no observer", .ours) { try await operation.value.run().get().sum },
        observed("observer that does nothing", operation) { IdleObserver() },
        observed("observer with a clock and a count", operation) { TimingObserver() },
        observed("recorder of everything", operation) { RecordingObserver() },
        Way("withThrowingTaskGroup", .swift) { try await TaskGroups.throwing(list.value).sum },
      ])
  }

  /// The cost per event. A child of a composite has four events, and one core runs all children.
  static func events(count: Int) -> Shape {
    let operation = Prepared { () -> ParallelOperation<[UInt64]> in
      ParallelOperation((0..<count).map { mixed($0) }, width: .serial)
    }
    let sum = Prepared { (0..<count).map { work(UInt64($0)) }.sum }
    return Shape(
      id: "events", title: "\((4 * count).grouped) events of \(count.grouped) empty operations",
      operations: 4 * count, unit: .nanosecondsPerEvent,
      ways: [
        observed("observer with a clock and a count", operation) { TimingObserver() },
        observed("observer that does nothing", operation) { IdleObserver() },
        observed("trace recorder", operation) { TraceRecorder() },
        observed("recorder of everything", operation) { RecordingObserver() },
        Way("no observer", .ours) { try await operation.value.run().get().sum },
        Way("a reading of the clock", .limit) {
          for _ in 0..<4 * count { withExtendedLifetime(ContinuousClock.now) {} }
          return sum.value
        },
      ])
  }

  /// The cost of recording an event that has just been made: some thousand events, repeatedly.
  static func recording(count: Int) -> Shape {
    let rounds = 100
    let children = Prepared { () -> [ObservedChild] in
      let recorder = RecordingObserver()
      let list = ParallelOperation((0..<count / rounds).map { mixed($0) }, width: .serial)
      let done = DispatchSemaphore(value: 0)
      Task {
        _ = await list.run(in: OperationEnvironment(observers: [recorder]))
        done.signal()
      }
      done.wait()
      // On one core, the events of a child are consecutive.
      let events = recorder.events.filter { $0.parent != nil || $0.isBeginningOfChild }
      return stride(from: 0, to: events.count - 3, by: 4).map { ObservedChild(events[$0..<$0 + 4]) }
    }
    func told(
      _ name: String, to makeObserver: @escaping @Sendable () -> any OperationObserver
    ) -> Way {
      Way(name, .ours) {
        let observer = makeObserver()
        for _ in 0..<rounds {
          for child in children.value { child.tell(observer) }
        }
        return UInt64(children.value.count)
      }
    }
    return Shape(
      id: "recording", title: "\((4 * count).grouped) existing events, recorded",
      operations: 4 * count, unit: .nanosecondsPerEvent,
      ways: [
        told("trace recorder") { TraceRecorder() },
        told("progress") { ProgressObserver() },
        told("observer that does nothing") { IdleObserver() },
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

/// The four events of a child. Observers borrow them without a copy, as in a run.
private final class ObservedChild: Sendable {
  private let announced: OperationEvent
  private let created: OperationEvent
  private let started: OperationEvent
  private let ended: OperationEvent

  init(_ events: ArraySlice<OperationEvent>) {
    let events = Array(events)
    (announced, created, started, ended) = (events[0], events[1], events[2], events[3])
  }

  @inline(never) func tell(_ observer: any OperationObserver) {
    observer.observe(announced)
    observer.observe(created)
    observer.observe(started)
    observer.observe(ended)
  }
}

extension OperationEvent {
  fileprivate var isBeginningOfChild: Bool {
    if case .childStarted = kind { true } else { false }
  }
}
