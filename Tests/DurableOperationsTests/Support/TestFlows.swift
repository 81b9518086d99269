import CompositeOperations
import DurableOperations

/// A flow that adds the results of its steps.
struct Sum: DurableSequence {
  let count: Int
  var keeping: Int?
  var sum = 0

  var history: StepHistory { keeping.map { .last($0) } ?? .all }

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    if let value = previous?.result(of: Note.self) { sum += value }
    let next = (previous?.index ?? -1) + 1
    return next < count ? Note("add \(next)", next + 1) : nil
  }

  func output(of steps: FinishedSteps) -> Int { sum }
}

/// A flow of one step, which the test chooses by a name.
struct Single: DurableSequence {
  enum Step: String, Codable {
    case note, failure, plainFailure, tuple, large, sleep, event, limitedEvent, endless, keyed,
      sameKeyTwice, retried, failingRetried, cancelled, void, child, endlessChild,
      retriedEvent, retriedLimitedEvent, retriedTwice, retriedEndless, retriedComposite, childEvent,
      hedgedSleep, sameKeyInHedge, emptyKey
  }

  let step: Step

  init(_ step: Step) { self.step = step }

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil ? operation : nil
  }

  private var operation: any ComposableOperation {
    switch step {
    case .note: Note("note", 7)
    case .failure: Failure(name: "failure", error: CodableError(code: 3))
    case .plainFailure: Failure(name: "failure", error: PlainError())
    case .tuple: ParallelOperation(Note("left"), SimpleOperation { "right" })
    case .large: SimpleOperation { String(repeating: "x", count: 2_000) }.named("large")
    case .sleep: DurableSleep(for: .seconds(60))
    case .event: AwaitedEvent("go", as: Int.self)
    case .limitedEvent: AwaitedEvent("go", as: Int.self, within: .seconds(60))
    case .endless: Endless()
    case .keyed: ParallelOperation((0..<3).map { Note("part \($0)", $0).journaled(as: $0) })
    case .sameKeyTwice: ParallelOperation((0..<2).map { Note("part", $0).journaled(as: "k") })
    case .emptyKey: ParallelOperation(["a", ""].map { Note("part", 1).journaled(as: $0) })
    case .sameKeyInHedge:
      ParallelOperation([
        AnyOperation(Note("part", 0).journaled(as: "k").hedged(after: .zero, attempts: 1)),
        AnyOperation(Note("part", 1).journaled(as: "k")),
      ])
    case .retried: FailingUntil(attempt: 3).durablyRetrying(attempts: 5)
    case .failingRetried:
      Failure(name: "failure", error: CodableError(code: 3))
        .durablyRetrying(attempts: 3, backoff: .constant(.seconds(60)))
    case .cancelled: SimpleOperation<Int> { throw CancellationError() }.named("cancelled")
    case .void: SimpleOperation {}.named("void")
    case .retriedEvent: AwaitedEvent("go", as: Int.self).durablyRetrying(attempts: 1)
    case .retriedLimitedEvent:
      AwaitedEvent("go", as: Int.self, within: .seconds(60)).durablyRetrying(attempts: 2)
    case .retriedTwice:
      FailingUntil(attempt: 4).durablyRetrying(attempts: 2).durablyRetrying(attempts: 2)
    case .retriedEndless: Endless().durablyRetrying(attempts: 1)
    case .retriedComposite:
      ParallelOperation([
        AnyOperation(AwaitedEvent("go", as: Int.self)), AnyOperation(Note("sibling")),
      ]).durablyRetrying(attempts: 1)
    case .hedgedSleep:
      FailingBeforeSleep().retrying(attempts: 2).hedged(after: .seconds(5))
    case .child: ChildFlow(Sum(count: 2))
    case .childEvent: ChildFlow(Single(.event), named: "child")
    case .endlessChild: ChildFlow(Single(.endless), named: "child")
    }
  }

  func output(of steps: FinishedSteps) -> Int? {
    steps.last(of: Note.self)
      ?? steps.last.flatMap { $0.result(as: Int.self) ?? $0.result(as: Int?.self) ?? nil }
  }
}

/// An operation that fails until the n-th time that it runs.
struct FailingUntil: ComposableOperation {
  let attempt: Int

  var operationName: String { "FailingUntil" }

  func perform(in context: OperationContext) async throws -> Int {
    Effects.current?.add("attempt", context)
    let count = Effects.current?.all.count ?? 0
    if count < attempt { throw CodableError(code: count) }
    return count
  }
}

/// An operation that fails the first time that it runs, and then sleeps for a minute.
struct FailingBeforeSleep: ComposableOperation {
  var operationName: String { "FailingBeforeSleep" }

  func perform(in context: OperationContext) async throws -> Int {
    Effects.current?.add("attempt", context)
    let count = Effects.current?.all.count ?? 0
    if count == 1 { throw CodableError(code: count) }
    try await context.run(DurableSleep(for: .seconds(60)))
    return count
  }
}
