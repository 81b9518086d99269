/// The requests of a store. Each function is one transaction.
///
/// Times are milliseconds since the beginning of 1970, UTC.
package protocol RunBackend: Sendable {
  var options: RunStoreOptions { get }
  /// The time of the store's clock: on a server, that clock is shared by all machines.
  var now: Int64 { get }
  /// The file or address, for errors.
  var location: String { get }
  /// Makes other changes in the transactions of the store; nil if the store cannot.
  var committer: (any StepCommitter)? { get }
  /// Whether child flows are left to the workers of the store, which may be on other machines.
  var leavesChildrenToWorkers: Bool { get }
  /// The most child flows of one step; nil for any number.
  var mostChildren: Int? { get }
  /// The machine and the process under which this process stores steps; nil if the store does not
  /// keep them.
  var worker: String? { get }

  // MARK: Runs

  /// Inserts a run, unless one with its name exists.
  ///
  /// - Returns: The run that has the name.
  func insert(_ run: NewRun) async throws -> (run: StoredRun, isNew: Bool)

  /// - Returns: Nil if there is no such run.
  func run(_ id: RunID) async throws -> StoredRun?

  /// Returns runs, the newest first.
  func runs(_ selection: RunSelection) async throws -> [StoredRun]

  /// Counts the runs of a selection by flow and state, without regard to its limit and the page
  /// before.
  func counts(of selection: RunSelection) async throws -> [RunCount]

  /// Returns the totals of all runs by flow and state, in the order of both.
  func totals() async throws -> [RunTotals]

  /// Returns a text that changes with every change of the store, and perhaps without one.
  func version() async throws -> String

  /// Returns the finished steps of a run in order, or only the last `count`.
  func steps(of id: RunID, last count: Int?) async throws -> [StoredStep]

  /// Returns the step that a run performs, or performed when its process ended; nil if the store does not know it.
  func runningStep(of run: StoredRun) async throws -> RunningStep?

  /// Returns the finished steps of a run in order, or only the last `count`, and what the step in
  /// progress has stored.
  func parts(of id: RunID, last count: Int?) async throws -> StoredParts

  // MARK: Claims

  /// Claims runs of some flows that are due, in the order of their wake times: runs that are no suspects, or one
  /// suspect. See ``StoredRun/isSuspect``.
  ///
  /// - Parameter isIdle: Whether the worker runs nothing else. Only then it gets a suspect.
  func claim(flows: [String], limit: Int, isIdle: Bool) async throws -> [RunClaim]

  /// Claims one run, if it is due and no living process runs it.
  func claim(_ id: RunID) async throws -> ClaimAnswer

  /// How long a worker waits at most after a claim that found nothing, unless a change wakes it.
  ///
  /// - Parameter isIdle: As at the claim.
  func longestPause(of flows: [String], isIdle: Bool) async throws -> Duration

  /// How long a worker with free places waits after a claim that found runs.
  var pauseBetweenClaims: Duration { get }

  /// Whether the process that runs a run lives, as far as it can be judged now.
  func ownerState(of run: StoredRun) -> OwnerState

  /// Returns a line for each process of which it cannot be judged whether it lives.
  func ownerProblems() async throws -> [String]

  // MARK: Writes of the process that runs a run

  /// Notes that a run performs a step, so that others can show it. Does not wait for the store.
  func stepBegan(_ step: RunningStep, by claim: ClaimToken)
  func stepEnded(by claim: ClaimToken)

  /// Stores a finished step, and deletes the rows that it makes obsolete.
  ///
  /// - Parameters:
  ///   - dropped: The positions of the steps to delete, which the history does not keep any more.
  ///   - hasKeys: Whether the step may have keys, which are deleted.
  /// - Throws: A ``DurableRunError`` if the claim is not valid any more.
  func append(
    _ step: StoredStep, dropping dropped: Range<Int>, hasKeys: Bool, by claim: ClaimToken
  ) async throws

  /// Stores a key of the step in progress, in place of an earlier one with the same path. A result
  /// is progress: the claim does not count any more among those that did not finish a step.
  func store(key step: StoredStep, by claim: ClaimToken) async throws

  /// Deletes all keys of the step in progress.
  func removeKeys(by claim: ClaimToken) async throws

  /// Parks a run until a time or an event. If the event has come, the run is ready at once.
  func park(by claim: ClaimToken, until wake: Int64?, event: String?) async throws

  /// Ends a run.
  ///
  /// - Parameters:
  ///   - outcome: The encoded result or error; nil for a result that is computed from the steps,
  ///     and for a cancellation.
  ///   - sequence: The encoded sequence, if it has changed since the last finished step.
  func end(
    by claim: ClaimToken, _ outcome: String?, as state: RunState, sequence: String?
  ) async throws

  /// Releases a claim without an outcome, so that any process may claim the run.
  ///
  /// - Parameter hasFailed: Whether the store has failed: the run is parked for a short time, and the
  ///   claim counts among those that did not finish a step.
  func release(by claim: ClaimToken, asFailed hasFailed: Bool) async throws

  /// Marks a run as stuck.
  func markStuck(by claim: ClaimToken, because reason: String) async throws

  // MARK: Requests from outside

  func cancel(_ id: RunID, because reason: String?) async throws
  func retry(_ id: RunID, from step: Int?) async throws
  /// Sends an event.
  ///
  /// - Parameter replaces: Whether it counts in place of an earlier event of its name that no finished step has
  ///   received.
  /// - Returns: Whether it counts.
  func send(
    _ payload: String, as event: String, to id: RunID, replacing replaces: Bool
  ) async throws -> Bool
  /// - Returns: Nil if it has not come.
  func event(_ name: String, of id: RunID) async throws -> StoredEvent?
  /// Returns the last events that were sent to a run, at most `count`, the newest first.
  func events(of id: RunID, last count: Int) async throws -> [StoredEvent]

  /// Deletes ended runs, at most 1,000.
  ///
  /// - Parameter age: Only runs that ended so many milliseconds ago by the clock of the store, at
  ///   least 0.
  /// - Returns: How many were deleted.
  func forget(olderThan age: Int64) async throws -> Int
  func forget(_ id: RunID) async throws

  /// Deletes ended runs while a worker is idle, at most 1,000, as ``forget(olderThan:)`` does,
  /// unless something else deletes them.
  func tidy(olderThan age: Int64) async throws -> Int

  /// Whether this process may write, as far as the store can tell without a write.
  func canWrite() async throws -> Bool

  /// Checks the file and its contents.
  ///
  /// - Returns: A line for each problem.
  func check() async throws -> [String]

  /// Copies the store as it is now into a new SQLite file.
  ///
  /// - Throws: A ``RunStoreError``, also if the file exists, or if the store is in no SQLite file.
  func copy(to path: String) async throws

  /// Checks what the store needs before its first request, and changes nothing.
  ///
  /// - Returns: Nil if it needs nothing.
  /// - Throws: A ``RunStoreError`` if the server cannot be reached.
  func preparation() async throws -> StorePreparation?

  /// Closes the connections at the end of a program, which removes the log beside the file. No
  /// request may follow.
  func close() async

  // MARK: Actions of persons

  /// Stores an action that begins.
  ///
  /// - Returns: Its number; nil if the store keeps none.
  func add(_ record: RecordedAction, on id: RunID) async throws -> Int64?
  func endAction(_ number: Int64, problem: String?) async throws
  /// Returns the last actions on a run, at most `count`, the newest first.
  func actions(on id: RunID, last count: Int) async throws -> [RecordedAction]

  // MARK: Changes

  /// The changes that this process and others make.
  var changes: RunChanges { get }
}

extension RunBackend {
  package var committer: (any StepCommitter)? { nil }
  package var leavesChildrenToWorkers: Bool { false }
  package var mostChildren: Int? { nil }
  package var worker: String? { nil }
  package var pauseBetweenClaims: Duration { .zero }

  package func runningStep(of run: StoredRun) async throws -> RunningStep? { nil }
  package func stepBegan(_ step: RunningStep, by claim: ClaimToken) {}
  package func stepEnded(by claim: ClaimToken) {}

  package func add(_ record: RecordedAction, on id: RunID) async throws -> Int64? { nil }
  package func endAction(_ number: Int64, problem: String?) async throws {}
  package func actions(on id: RunID, last count: Int) async throws -> [RecordedAction] { [] }

  package func ownerProblems() async throws -> [String] { [] }

  /// Whether the process that runs a run has ended without releasing it.
  package func ownerHasEnded(of run: StoredRun) -> Bool { ownerState(of: run) == .hasEnded }

  package func copy(to path: String) async throws {
    throw RunStoreError(
      .other,
      "\(location) cannot be copied into a file; copy a database by its own tools, such as pg_dump")
  }

  package func preparation() async throws -> StorePreparation? { nil }

  package func tidy(olderThan age: Int64) async throws -> Int {
    try await forget(olderThan: age)
  }

  /// Releases a claim that does not count among those that did not finish a step.
  package func release(by claim: ClaimToken) async throws {
    try await release(by: claim, asFailed: false)
  }
}
