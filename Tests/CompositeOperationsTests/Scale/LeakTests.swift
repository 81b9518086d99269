import CompositeOperations
import CompositeOperationsTestKit
import Synchronization
import Testing

/// Counts its live tokens.
private final class Census: Sendable {
  final class Token: Sendable {
    private let census: Census
    init(_ census: Census) {
      self.census = census
      census.alive.wrappingAdd(1, ordering: .relaxed)
    }
    deinit { census.alive.wrappingSubtract(1, ordering: .relaxed) }
  }

  private let alive = Atomic(0)

  var count: Int { alive.load(ordering: .acquiring) }
  func token() -> Token { Token(self) }
}

/// An operation that keeps a token and returns another one.
private struct Tracked: ComposableOperation {
  let census: Census
  let token: Census.Token
  let suspends: Bool
  let outcome: Outcome<Void>

  init(_ census: Census, suspends: Bool = true, _ outcome: Outcome<Void> = .result(())) {
    self.census = census
    self.suspends = suspends
    self.outcome = outcome
    token = census.token()
  }

  func perform(in context: OperationContext) async throws -> Census.Token {
    if suspends { await Task.yield() }
    try outcome.get()
    return census.token()
  }
}

@Suite struct LeakTests {
  @Test func `a run leaks nothing, however it ends`() async throws {
    for seed in 0..<20 as Range<UInt64> {
      for cancelledAfter in [nil, 0, 1, 2, 3, 5, 8, 13, 21] {
        let census = Census()
        do {
          let executor = SeededExecutor(seed: seed)
          let environment = OperationEnvironment(executor: executor)
          for operation in Self.operations(census) {
            let run = AnyOperation(operation).start(in: environment)
            if cancelledAfter == 0 { run.cancel() }
            executor.drain { if $0 == cancelledAfter { run.cancel() } }
            _ = await run.outcome
          }
        }
        #expect(census.count == 0, "seed \(seed), cancelled after \(cancelledAfter ?? -1) jobs")
      }
    }
  }

  @Test func `runs on the thread pool leak nothing`() async {
    let census = Census()
    for _ in 0..<50 {
      for operation in Self.operations(census) { _ = await AnyOperation(operation).run() }
    }
    // A task can release its closure shortly after it has reported its end.
    while census.count > 0 { await Task.yield() }
    #expect(census.count == 0)
  }

  private static func operations(_ census: Census) -> [any ComposableOperation<Void>] {
    let failed = Outcome<Void>.error(TestError("failed"))
    @Sendable func mixed(_ outcome: Outcome<Void>) -> [Tracked] {
      [
        Tracked(census), Tracked(census, suspends: false), Tracked(census, outcome),
        Tracked(census), Tracked(census, suspends: false, outcome),
      ]
    }
    let token = census.token()
    var operations: [any ComposableOperation<Void>] = []
    for outcome in [Outcome<Void>.result(()), failed, .cancelled] {
      operations += [
        Tracked(census, outcome).map { _ in },
        Tracked(census, outcome).then { _ in Tracked(census) }.map { _ in
          withExtendedLifetime(token) {}
        },
        Tracked(census, outcome).discarding { _ in withExtendedLifetime(token) {} }.map { _ in },
        ParallelOperation(mixed(outcome)).map { _ in },
        ParallelOperation(mixed(outcome), width: .limited(to: 2), onFailure: .runAll).map { _ in },
        ParallelOperation(mixed(outcome)).collectingOutcomes().map { _ in },
        ParallelOperation(Tracked(census, outcome), Tracked(census)).map { _ in },
        ParallelOperation(width: .limited(to: 2)) { mixed(outcome) }.map { _ in },
        ParallelOperation(width: .limited(to: 2)) {
          mixed(outcome)
        } consumingResults: { _ in
        },
        RaceOperation(mixed(outcome)).map { _ in },
        SequentialOperation(.linear(mixed(outcome))).map { _ in },
        Tracked(census, outcome).retrying(attempts: 3).map { _ in },
        Tracked(census, outcome).hedged(after: .zero, attempts: 3).map { _ in },
        ParallelOperation([ParallelOperation(mixed(outcome))]).observed(by: RecordingObserver())
          .map { _ in },
        SimpleOperation<Void>.withCallback { finish in
          finish.onCancel { withExtendedLifetime(token) {} }
          finish(outcome)
        },
        SimpleOperation.withContext { context in
          _ = try await context.run(Tracked(census, outcome))
          withExtendedLifetime(token) {}
        },
      ]
    }
    return operations
  }
}
