public import CompositeOperations

/// An operation whose runs end as a script says, and which counts them.
///
/// ```swift
/// let fetch = ScriptedOperation("fetch", runs: [
///   .error(ScriptedError("offline")).after(.seconds(1)),
///   .result([Issue()]),
/// ])
/// let issues = try await fetch.retrying(attempts: 3).run().get()
/// #expect(fetch.runCount == 2)
/// ```
///
/// It stands for what a flow would fetch, save or ask for. Each run takes the next line of the script,
/// whichever of the operation's copies is run: a test and its flow share one. A run beyond the last line ends
/// in a ``ScriptExhaustedError``.
public final class ScriptedOperation<Success: Sendable>: ComposableOperation {
  private struct Counts: Sendable {
    var runs = 0
    var inFlight = 0
    var mostInFlight = 0
  }

  public let operationName: String
  private let runs: [ScriptedRun<Success>]
  private let furtherRun: ScriptedRun<Success>?
  private let counts = Lock(Counts())

  /// - Parameters:
  ///   - name: What events and errors call the operation.
  ///   - runs: What its runs do, in the order in which they begin.
  ///   - furtherRun: What every run after those does; nil if there is to be none.
  public init(
    _ name: String = "ScriptedOperation", runs: [ScriptedRun<Success>],
    thereafter furtherRun: ScriptedRun<Success>? = nil
  ) {
    operationName = name
    self.runs = runs
    self.furtherRun = furtherRun
  }

  /// How many runs have begun.
  public var runCount: Int { counts.withLock { $0.runs } }

  /// How many runs are going on now.
  public var inFlight: Int { counts.withLock { $0.inFlight } }

  /// How many runs were going on at once, when there were most.
  public var mostInFlight: Int { counts.withLock { $0.mostInFlight } }

  public func perform(in context: OperationContext) async throws -> Success {
    let number = counts.withLock { counts in
      counts.runs += 1
      counts.inFlight += 1
      counts.mostInFlight = max(counts.mostInFlight, counts.inFlight)
      return counts.runs
    }
    defer { counts.withLock { $0.inFlight -= 1 } }
    guard let run = number <= runs.count ? runs[number - 1] : furtherRun else {
      throw ScriptExhaustedError(name: operationName, scriptedRuns: runs.count, run: number)
    }
    return try await run.perform(by: context.clock)
  }
}
