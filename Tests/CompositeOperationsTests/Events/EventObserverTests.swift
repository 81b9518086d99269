import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite struct EventObserverTests {
  @Test(arguments: EventScene.all)
  func `C1: all observers of a run receive the same events`(scene: EventScene) async throws {
    for setting in Setting.many {
      let recorders = (0..<4).map { _ in RecordingObserver() }
      let environment = OperationEnvironment(observers: [recorders[0], recorders[1]])
      let operation = scene.operation(setting).observed(by: recorders[2])
        .observed(by: recorders[3])
      _ = try await setting.run { await operation.run(in: environment) }
      let first = recorders[0].events
      for recorder in recorders.dropFirst() {
        switch setting.order {
        case .total: try #require(recorder.events.lines == first.lines, "\(setting)")
        case .partial: try #require(recorder.events.linesByRun == first.linesByRun, "\(setting)")
        }
      }
    }
  }

  @Test(arguments: EventScene.all)
  func `C1: the observers of an inner operation receive only its events`(scene: EventScene)
    async throws
  {
    for setting in Setting.many {
      let outer = RecordingObserver()
      let inner = RecordingObserver()
      let list = ParallelOperation([
        scene.operation(setting).named("seen").observed(by: inner),
        scene.operation(setting).named("beside").observed(by: RecordingObserver()),
      ])
      let environment = OperationEnvironment(observers: [outer])
      let outcome = try await setting.run { await list.run(in: environment) }
      let seen = outer.events.filter { $0.path.names.contains("seen") }
      try #require(inner.events.linesByRun == seen.linesByRun, "\(setting), \(outcome)")
      try #require(outer.events.findings(order: setting.order) == [], "\(setting)")
    }
  }

  @Test(arguments: EventScene.all)
  func `C1: unobserved runs beside and above an observed run report nothing`(
    scene: EventScene
  ) async throws {
    for setting in Setting.many {
      let inner = RecordingObserver()
      let list = ParallelOperation(
        [
          AnyOperation(scene.operation(setting)),
          AnyOperation(scene.operation(setting).named("seen").observed(by: inner)),
        ], onFailure: .runAll)
      _ = try await setting.run { await list.run() }
      let events = inner.events
      try #require(events.allSatisfy { $0.path.names.first == "seen" }, "\(setting)")
      try #require(events.findings(order: setting.order) == [], "\(setting)")
      try #require(events.first?.parent == nil)
      _ = try await setting.run { await scene.operation(setting).run() }
      try #require(inner.events.count == events.count, "\(setting)")
    }
  }

  @Test func `C1: observers are notified one after another, beginning with the environment's`()
    async
  {
    struct Teller: OperationObserver {
      let name: String
      let log: Log<String>
      func observe(_ event: OperationEvent) { if event.isStart { log.add(name) } }
    }
    let log = Log<String>()
    let tellers = ["a", "b", "c", "d"].map { Teller(name: $0, log: log) }
    let operation = SimpleOperation { log.add("body") }.observed(by: tellers[2], tellers[3])
    let environment = OperationEnvironment(observers: [tellers[0], tellers[1]])
    _ = await operation.run(in: environment)
    #expect(log.entries == ["a", "b", "c", "d", "body"])
  }

  @Test func `C1: a path has one name for each run, from the outermost to the innermost`()
    async throws
  {
    let recorder = RecordingObserver()
    let seen = Log<[String]>()
    let leaf = SimpleOperation.withContext { context in seen.add(context.path.names) }.named("leaf")
    let steps = SequentialOperation(.linear([leaf])).named("steps")
    let list = ParallelOperation { [steps.prioritized(at: .high).discarding { _ in }] }
    let body = SimpleOperation.withContext { context in try await context.run(list.named("list")) }
    _ = try await body.named("body").observed(by: recorder).run().get()
    #expect(seen.entries == [["body", "list", "steps", "leaf"]])
    let paths = recorder.events.filter(\.isCreation).map { "\($0.path)" }
    #expect(paths == ["body", "body/list", "body/list/steps", "body/list/steps/leaf"])
  }
}

extension [OperationEvent] {
  fileprivate var lines: [String] { map { "\($0)" } }

  /// The events of each run. On several workers, events from other tasks (the start of a child and
  /// a cancellation request) are in no fixed position. Here, they are last, in alphabetical order.
  fileprivate var linesByRun: [OperationID: [String]] {
    Dictionary(grouping: self, by: \.id).mapValues { events in
      events.filter { !$0.isFromElsewhere }.lines
        + events.filter(\.isFromElsewhere).lines.sorted()
    }
  }
}

extension OperationEvent {
  fileprivate var isFromElsewhere: Bool {
    switch kind {
    case .childStarted, .cancellationRequested: true
    case .created, .started, .waitingBegan, .waitingEnded, .retryScheduled, .progressed,
      .childrenExpected, .logged, .finishedAgain, .abandonedBodyEnded, .ended:
      false
    }
  }
}
