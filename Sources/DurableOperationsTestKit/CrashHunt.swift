public import DurableOperations

/// A search for a crash that changes what a durable flow does.
///
/// The hunt runs a flow once without a crash, and then once for each write of its journal with a
/// simulated crash before the write, and once with a crash after it. The next process continues
/// after each crash. The outcome and the effects must be the same each time:
///
/// ```swift
/// import DurableOperations
/// import DurableOperationsTestKit
///
/// try await CrashHunt().run(Fulfilment(of: order)) { trial in
///   try await trial.store.start(Fulfilment(of: order), named: trial.id)
///   try await trial.store.send(Approval(isGranted: true), as: "approved", to: trial.id)
///   return try await trial.outcome.get().count
/// }
/// ```
///
/// Create the fake services of the flow in the closure, and return their effects.
///
/// A step that a crash interrupts runs again with the same `idempotencyKey`. A fake service that
/// stores its effects by that key behaves as a real one that detects repeated requests.
///
/// The journals are in memory. A flow with a `CommittedStep` needs files: pass a folder for them, and
/// open the database of the records at ``CrashTrial/file``.
///
/// Waits take no time: the clock of the trial skips them. In a simulated crash the operations of the
/// step are cancelled, and nothing that they do is stored. Unlike a killed process, they can still
/// do other things, such as `finally`.
public struct CrashHunt: Sendable {
  private let limit: Int
  private let comparesOutcomes: Bool
  private let folder: String?

  /// Creates a hunt.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of crashes to try. Beyond it, the hunt ends without an
  ///   error, so choose it above the number of writes of the flow.
  ///   - comparesOutcomes: Whether the outcomes must be the same, too. A crash in an attempt of
  ///   `durablyRetrying` changes the errors of an outcome, and can change the outcome.
  ///   - folder: The path of an empty folder for the journals, one file for each trial; nil for
  ///   journals in memory. The files remain.
  /// - Precondition: `limit` is at least 1.
  public init(limit: Int = 10_000, comparesOutcomes: Bool = true, folder: String? = nil) {
    precondition(limit >= 1, "`limit` must be at least 1 (was \(limit))")
    self.limit = limit
    self.comparesOutcomes = comparesOutcomes
    self.folder = folder
  }

  private func path(_ trial: String) -> String? { folder.map { "\($0)/\(trial).sqlite" } }

  /// Runs a flow without a crash, and then with a crash before and after each write.
  ///
  /// - Parameters:
  ///   - flow: The flow, in its initial state.
  ///   - options: The settings of the store. Its clock and its threshold for parking are replaced.
  ///   - file: The module and the file that an error names.
  ///   - line: The line that an error names.
  ///   - body: Creates the world of the flow, runs the flow by asking the trial for its outcome, and
  ///     returns the effects.
  /// - Returns: The number of crashes that were simulated.
  /// - Throws: A ``CrashHuntError`` for the first crash that makes a difference, or the error of the
  ///   body without a crash.
  @discardableResult
  public func run<Flow: DurableSequence, Effects: Equatable & Sendable>(
    _ flow: Flow, options: RunStoreOptions = RunStoreOptions(), file: String = #fileID,
    line: Int = #line, _ body: @Sendable (CrashTrial<Flow>) async throws -> Effects
  ) async throws -> Int {
    let undisturbed = CrashTrial(of: flow, options, in: path("undisturbed"), crashing: nil)
    let effects = try await body(undisturbed)
    let outcome = try await undisturbed.storedOutcome
    for number in 0..<limit {
      let crash = SimulatedCrash(write: number / 2, isAfter: number % 2 == 1)
      let trial = CrashTrial(of: flow, options, in: path("trial-\(number)"), crashing: crash)
      func failure(_ problem: String) -> CrashHuntError {
        CrashHuntError(
          write: crash.write, isAfter: crash.isAfter, problem: problem, file: file, line: line)
      }
      let otherEffects: Effects
      let otherOutcome: String
      do {
        otherEffects = try await body(trial)
        otherOutcome = try await trial.storedOutcome
      } catch { throw failure("the body ended in an error: \(error)") }
      guard trial.hasCrashed else { return number }
      if comparesOutcomes, outcome != otherOutcome {
        throw failure("the outcome is \(otherOutcome), and without a crash it is \(outcome)")
      }
      if effects != otherEffects {
        throw failure("the effects are \(otherEffects), and without a crash they are \(effects)")
      }
    }
    return limit
  }
}

/// An error thrown when a crash changes what a flow does.
public struct CrashHuntError: Error, CustomStringConvertible {
  /// The number of the write, from 0.
  public let write: Int
  /// Whether the crash was after the write, and not before it.
  public let isAfter: Bool
  /// What was different.
  public let problem: String
  /// The module and the file of the hunt.
  public let file: String
  /// The line of the hunt.
  public let line: Int

  public var description: String {
    "\(file):\(line): after a crash \(isAfter ? "after" : "before") write \(write), \(problem)"
  }
}
