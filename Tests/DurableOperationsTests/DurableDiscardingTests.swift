import CompositeOperations
import DurableOperations
import Testing

/// Records which of the values that a durable step has opened are closed.
private final class Handles: Sendable {
  @TaskLocal static var current: Handles?

  private let closed = Lock<[Int]>([])
  private let attempts = Lock(0)

  var closedNumbers: [Int] { closed.withLock { $0.sorted() } }

  static func open(_ number: Int) -> any ComposableOperation<Int> {
    SimpleOperation { number }.discarding { number in
      current?.closed.withLock { $0.append(number) }
    }
  }

  /// Opens a handle, and fails with it in its error up to a number of attempts.
  static func openFailing(_ number: Int, upTo failing: Int) -> any ComposableOperation<Int> {
    let failure = SimpleOperation<Int> {
      let attempt = current?.attempts.withLock { attempts in
        attempts += 1
        return attempts
      }
      if let attempt, attempt <= failing { throw PlainError() }
      return 0
    }
    return AnyOperation(
      ParallelOperation([open(number), failure], width: .serial, onFailure: .runAll)
    ).map { $0[0] }
  }
}

/// A flow of one step.
private struct Opening: DurableSequence {
  enum Step: String, Codable, CaseIterable {
    case result, failure, retriedResult, retriedFailure, resultAfterFailures, retriedBesideFailure,
      retriedThenMapped, keyBesideFailure

    /// The handles that are closed, because only the error of the step or of an attempt had them.
    var closed: [Int] {
      switch self {
      case .result, .retriedResult, .retriedThenMapped, .keyBesideFailure: []
      case .failure, .retriedBesideFailure: [1]
      case .retriedFailure: [1, 1, 1]
      case .resultAfterFailures: [1, 1]
      }
    }
  }

  let step: Step

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil ? operation : nil
  }

  func output(of steps: FinishedSteps) -> Int { steps.count }

  private var operation: any ComposableOperation {
    let failing = SimpleOperation<Int> { throw PlainError() }
    func besideFailure(_ operation: some ComposableOperation<Int>) -> any ComposableOperation {
      ParallelOperation(
        [AnyOperation(operation), AnyOperation(failing)], width: .serial, onFailure: .runAll)
    }
    let one = AnyOperation(Handles.open(1))
    return switch step {
    case .result: one
    case .failure: besideFailure(one)
    case .retriedResult: one.durablyRetrying(attempts: 2)
    case .retriedFailure:
      AnyOperation(Handles.openFailing(1, upTo: .max)).durablyRetrying(attempts: 3)
    case .resultAfterFailures:
      AnyOperation(Handles.openFailing(1, upTo: 2)).durablyRetrying(attempts: 3)
    case .retriedBesideFailure: besideFailure(one.durablyRetrying(attempts: 2))
    case .retriedThenMapped: one.durablyRetrying(attempts: 2).map { $0 + 1 }
    case .keyBesideFailure: besideFailure(one.journaled(as: 1))
    }
  }
}

@Suite(.timeLimit(.minutes(10))) struct DurableDiscardingTests {
  @Test(arguments: Opening.Step.allCases)
  private func `O3: a value of a durable step that nothing stores or receives is discarded once`(
    step: Opening.Step
  ) async throws {
    let handles = Handles()
    let state = try await Handles.$current.withValue(handles) {
      try await TestStore().run(Opening(step: step)).state
    }
    #expect(state == .result || state == .error)
    #expect(handles.closedNumbers == step.closed)
  }
}
