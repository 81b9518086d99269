public import CompositeOperations

/// An operation whose runs follow a script, and which counts its runs.
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
/// It replaces an operation that fetches, saves or asks for something. Each run takes the next
/// element of the script. All references to the operation share one script and its counts, so a
/// test and its flow can use the same one. A run beyond the script throws a
/// ``ScriptExhaustedError``.
public final class ScriptedOperation<Success: Sendable>: ComposableOperation {
  private struct Counts: Sendable {
    var runs = 0
    var inFlight = 0
    var mostInFlight = 0
  }

  /// The name of the operation in events and errors.
  public let operationName: String
  private let runs: [ScriptedRun<Success>]
  private let furtherRun: ScriptedRun<Success>?
  private let counts = Lock(Counts())

  /// Creates a scripted operation.
  ///
  /// - Parameters:
  ///   - name: The name of the operation in events and errors.
  ///   - runs: The runs, in the order in which they start.
  ///   - furtherRun: The script of every further run; nil if further runs are errors.
  public init(
    _ name: String = "ScriptedOperation", runs: [ScriptedRun<Success>],
    thereafter furtherRun: ScriptedRun<Success>? = nil
  ) {
    operationName = name
    self.runs = runs
    self.furtherRun = furtherRun
  }

  /// The number of runs that have started.
  public var runCount: Int { counts.withLock { $0.runs } }

  /// The number of runs in flight now.
  public var inFlight: Int { counts.withLock { $0.inFlight } }

  /// The highest number of runs in flight at the same time so far.
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
