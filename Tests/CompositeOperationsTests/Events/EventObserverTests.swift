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

  @Test(arguments: [true, false])
  func `C1: kept events and contexts do not change when later children run`(isUniform: Bool) async {
    let kept = Log<OperationEvent>()
    let contexts = Log<NumberedChild.Kept>()
    // One worker runs all children, one after another.
    let children = (0..<300).map { NumberedChild(number: $0, contexts: contexts) }
    let composite =
      isUniform
      ? ParallelOperation(children, width: .serial)
      : ParallelOperation(
        children.map { $0 as any ComposableOperation<Int> }, width: .serial)
    let observer = SelectiveObserver(kept: kept)
    let outcome = await composite.run(in: OperationEnvironment(observers: [observer]))
    #expect(outcome.result == Array(0..<300))
    let names = kept.entries.map(\.name)
    // Of every fourth child: created, started and ended.
    #expect(
      names == stride(from: 0, to: 300, by: 4).flatMap { Array(repeating: "child \($0)", count: 3) }
    )
    #expect(Set(kept.entries.map(\.id)).count == 75)
    #expect(contexts.count == 60)
    for kept in contexts.entries {
      #expect(kept.context.path.names.last == "child \(kept.number)")
      #expect(kept.context.path.names.count == 2)
    }
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

/// Keeps the events of every fourth ``NumberedChild``.
private struct SelectiveObserver: OperationObserver {
  let kept: Log<OperationEvent>

  func observe(_ event: OperationEvent) {
    let number = event.name.split(separator: " ").last.flatMap { Int($0) }
    if let number, number.isMultiple(of: 4) { kept.add(event) }
  }
}

/// Every fifth child keeps its context.
private struct NumberedChild: ComposableOperation {
  struct Kept: Sendable {
    let number: Int
    let context: OperationContext
  }

  let number: Int
  let contexts: Log<Kept>
  var operationName: String { "child \(number)" }

  func perform(in context: OperationContext) -> Int {
    if number.isMultiple(of: 5) { contexts.add(Kept(number: number, context: context)) }
    return number
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
      .childrenExpected, .attributesSet, .logged, .finishedAgain, .abandonedBodyEnded, .ended:
      false
    }
  }
}
