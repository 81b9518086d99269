package import CompositeOperations
package import SQLiteSupport

/// The requests of a store. Each function is one transaction.
///
/// Times are milliseconds since the beginning of 1970, UTC.
package protocol RunBackend: Sendable {
  var options: RunStoreOptions { get }
  /// The file or address, for errors.
  var location: String { get }
  /// The path of the SQLite file, whose transactions can contain other changes; nil if there is
  /// none.
  var file: String? { get }
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

  /// Returns the finished steps of a run in order, or only the last `count`.
  func steps(of id: RunID, last count: Int?) async throws -> [StoredStep]

  /// Returns the finished steps of a run in order, or only the last `count`, and what the step in
  /// progress has stored.
  func parts(of id: RunID, last count: Int?) async throws -> StoredParts

  // MARK: Claims

  /// Claims runs of some flows that are due, in the order of their wake times.
  func claim(flows: [String], limit: Int) async throws -> [RunClaim]

  /// Claims one run, if it is due and no living process runs it.
  func claim(_ id: RunID) async throws -> ClaimAnswer

  /// How long a worker waits at most after a claim, unless a change wakes it.
  ///
  /// - Parameter emptyClaims: How many claims in a row found no run; 0 after one that found some.
  func longestPause(of flows: [String], emptyClaims: Int) async throws -> Duration

  /// How long a worker with free places waits after a claim that found runs.
  var pauseBetweenClaims: Duration { get }

  /// Whether the process that runs a run has ended without releasing it.
  func ownerHasEnded(of run: StoredRun) -> Bool

  // MARK: Writes of the process that runs a run

  /// Stores a finished step, and deletes the rows that it makes obsolete.
  ///
  /// - Parameters:
  ///   - dropped: The positions of the steps to delete, which the history does not keep any more.
  ///   - hasKeys: Whether the step may have keys, which are deleted.
  /// - Throws: A ``RunTakenError``, or a ``RunCancelledError``, if the claim is not valid any more.
  func append(
    _ step: StoredStep, dropping dropped: Range<Int>, hasKeys: Bool, by claim: ClaimToken
  ) async throws

  /// Stores a key of the step in progress, in place of an earlier one with the same path. A result
  /// is progress: the claim does not count any more among those that did not finish a step.
  func store(key step: StoredStep, by claim: ClaimToken) async throws

  /// Makes changes in the file of the journal, and stores the row that they return: a finished step,
  /// or a key of the step in progress.
  ///
  /// - Parameters:
  ///   - dropped: The positions of the steps to delete with a finished step.
  ///   - hasKeys: Whether the step may have keys, which are deleted with a finished step.
  ///   - changes: Makes the changes. It may run several times, until it is committed.
  /// - Returns: The value of the changes, with the stored row.
  /// - Throws: The error of the changes; a ``RunTakenError``, or a ``RunCancelledError``, if the
  ///   claim is not valid any more. Nothing has changed then.
  func commit<Value: Sendable>(
    dropping dropped: Range<Int>, hasKeys: Bool, by claim: ClaimToken,
    _ changes: @escaping @Sendable (SQLiteConnection) throws -> CommittedValue<Value>
  ) async throws -> CommittedValue<Value>

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
  /// - Parameter hasFailed: Whether the store has failed: the run is parked for a moment, and the
  ///   claim counts among those that did not finish a step.
  func release(by claim: ClaimToken, asFailed hasFailed: Bool) async throws

  /// Marks a run as stuck.
  func markStuck(by claim: ClaimToken, because reason: String) async throws

  // MARK: Requests from outside

  func cancel(_ id: RunID, because reason: String?) async throws
  func retry(_ id: RunID, from step: Int?) async throws
  func send(_ payload: String, as event: String, to id: RunID) async throws
  /// - Returns: Nil if it has not come.
  func event(_ name: String, of id: RunID) async throws -> String?

  /// Deletes ended runs, at most 1,000.
  ///
  /// - Parameter time: Only runs that ended before this time.
  /// - Returns: How many were deleted.
  func forget(endedBefore time: Int64) async throws -> Int
  func forget(_ id: RunID) async throws

  /// Deletes ended runs while a worker is idle, at most 1,000, as ``forget(endedBefore:)`` does,
  /// unless something else deletes them.
  func tidy(endedBefore time: Int64) async throws -> Int

  /// Checks the file and its contents.
  ///
  /// - Returns: A line for each problem.
  func check() async throws -> [String]

  /// Checks what the store needs before its first request, and changes nothing.
  ///
  /// - Returns: Nil if it needs nothing.
  /// - Throws: A ``RunStoreError`` if the server cannot be reached.
  func preparation() async throws -> StorePreparation?

  /// Closes the connections at the end of a program, which removes the log beside the file. No
  /// request may follow.
  func close() async

  // MARK: Changes

  /// The changes that this process and others make.
  var changes: RunChanges { get }
}

extension RunBackend {
  package var leavesChildrenToWorkers: Bool { false }
  package var mostChildren: Int? { nil }
  package var worker: String? { nil }
  package var pauseBetweenClaims: Duration { .zero }

  /// - Precondition: The store has a file.
  package func commit<Value: Sendable>(
    dropping dropped: Range<Int>, hasKeys: Bool, by claim: ClaimToken,
    _ changes: @escaping @Sendable (SQLiteConnection) throws -> CommittedValue<Value>
  ) async throws -> CommittedValue<Value> {
    preconditionFailure("a store without a file makes no other changes")
  }

  package func preparation() async throws -> StorePreparation? { nil }

  package func tidy(endedBefore time: Int64) async throws -> Int {
    try await forget(endedBefore: time)
  }

  /// Releases a claim that does not count among those that did not finish a step.
  package func release(by claim: ClaimToken) async throws {
    try await release(by: claim, asFailed: false)
  }
}

package struct NewRun: Sendable {
  package let id: RunID
  package let flow: String
  /// The encoded sequence.
  package let state: String
  package let parent: RunID?
  /// Whether the caller claims it next, so that no other worker may see it before.
  package let isClaimedNext: Bool

  package init(
    id: RunID, flow: String, state: String, parent: RunID? = nil, isClaimedNext: Bool = false
  ) {
    self.id = id
    self.flow = flow
    self.state = state
    self.parent = parent
    self.isClaimedNext = isClaimedNext
  }
}

/// A row of the table of runs.
package struct StoredRun: Sendable {
  package var id: RunID
  package var flow: String
  package var state: RunState
  /// The encoded sequence after the last finished step.
  package var sequence: String
  /// The encoded sequence of the start.
  package var initial: String
  package var stepCount: Int
  package var fence: Int
  package var owner: Int?
  package var claims: Int
  package var wake: Int64?
  package var event: String?
  package var cancelled: Int64?
  package var reason: String?
  package var outcome: String?
  package var parent: RunID?
  package var began: Int64
  package var updated: Int64
  package var ended: Int64?
  /// The machine and the process that run it; nil if ``owner`` identifies the process.
  package var worker: String?
  /// Whether its process has given no sign of life for the time of its lease.
  package var hasExpired = false
  /// The span of the run; nil if the store keeps none. SQLite files keep none, because the processes
  /// that share one are on one machine.
  package var trace: RunTrace?

  package init(
    id: RunID, flow: String, state: RunState, sequence: String, initial: String, stepCount: Int,
    fence: Int, owner: Int? = nil, claims: Int, wake: Int64?, event: String?, cancelled: Int64?,
    reason: String?, outcome: String?, parent: RunID?, began: Int64, updated: Int64, ended: Int64?,
    worker: String? = nil
  ) {
    self.id = id
    self.flow = flow
    self.state = state
    self.sequence = sequence
    self.initial = initial
    self.stepCount = stepCount
    self.fence = fence
    self.owner = owner
    self.claims = claims
    self.wake = wake
    self.event = event
    self.cancelled = cancelled
    self.reason = reason
    self.outcome = outcome
    self.parent = parent
    self.began = began
    self.updated = updated
    self.ended = ended
    self.worker = worker
  }
}

/// A row of the table of steps: a finished step, or a key of the step in progress.
package struct StoredStep: Sendable {
  /// The position of the step among the finished ones, also for its keys.
  package var position: Int
  /// The keys below the step, separated by slashes; empty for the finished step itself.
  package var key: String
  package var name: String
  package var types: StepTypes
  /// The mangled name of the operation's type; empty if a program cannot look it up.
  package var mangledName: String
  package var kind: RunDetails.Kind
  package var value: String?
  /// The encoded sequence after the step; nil if it has not changed.
  package var sequence: String?
  package var attempts: Int
  package var fence: Int
  package var began: Int64
  package var ended: Int64
  /// The machine and the process that have stored it; nil if the store does not keep them.
  package var worker: String?

  package init(
    position: Int, key: String = "", name: String,
    types: StepTypes = StepTypes(operations: [], success: ""), mangledName: String = "",
    kind: RunDetails.Kind, value: String?, sequence: String? = nil, attempts: Int = 1, fence: Int,
    began: Int64, ended: Int64, worker: String? = nil
  ) {
    self.position = position
    self.key = key
    self.name = name
    self.types = types
    self.mangledName = mangledName
    self.kind = kind
    self.value = value
    self.sequence = sequence
    self.attempts = attempts
    self.fence = fence
    self.began = began
    self.ended = ended
    self.worker = worker
  }
}

/// A value, with the row that stores it.
package struct CommittedValue<Value: Sendable>: Sendable {
  package let value: Value
  package let row: StoredStep

  package init(_ value: Value, in row: StoredStep) {
    self.value = value
    self.row = row
  }
}

/// What a run has stored.
package struct StoredParts: Sendable {
  /// The finished steps in order.
  package let steps: [StoredStep]
  /// The keys of the step in progress.
  package let keys: [StoredStep]

  package init(steps: [StoredStep], keys: [StoredStep]) {
    self.steps = steps
    self.keys = keys
  }
}

package struct RunSelection: Sendable {
  package var flow: String?
  package var states: [RunState]
  package var limit: Int
  /// The last run of the page before.
  package var after: (began: Int64, id: RunID)?

  package init(
    flow: String? = nil, states: [RunState] = [], limit: Int = .max,
    after: (began: Int64, id: RunID)? = nil
  ) {
    self.flow = flow
    self.states = states
    self.limit = limit
    self.after = after
  }
}

/// The right to write for a run, until another process claims it.
package struct ClaimToken: Sendable, Hashable {
  package let run: RunID
  package let fence: Int
  /// The parent of the run.
  package let parent: RunID?

  package init(run: RunID, fence: Int, parent: RunID? = nil) {
    self.run = run
    self.fence = fence
    self.parent = parent
  }
}

package struct RunClaim: Sendable {
  package let token: ClaimToken
  package let run: StoredRun
  /// Whether no earlier claim can have stored anything.
  package let isFirst: Bool

  package init(_ run: StoredRun, isFirst: Bool) {
    token = ClaimToken(run: run.id, fence: run.fence, parent: run.parent)
    self.run = run
    self.isFirst = isFirst
  }
}

package enum ClaimAnswer: Sendable {
  case claimed(RunClaim)
  /// The run has ended, or is stuck.
  case over(StoredRun)
  /// Another process, or another task of this one, runs it.
  case taken
  /// It waits for a time or an event.
  case parked(until: Int64?)
  case missing
}
