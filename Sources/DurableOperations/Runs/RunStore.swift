public import CompositeOperations
package import Foundation
package import SystemSupport

/// The place where durable runs are stored.
///
/// ```swift
/// import DurableOperations
///
/// let store = RunStore.sqlite("flows.sqlite")
/// let run = try await store.start(Fulfilment(of: order), named: "order-7")
/// try await store.send(Approval(isGranted: true), as: "approved", to: "order-7")
/// ```
///
/// Any number of processes on one machine may use one file at the same time. The file is opened,
/// and created if it is missing, by the first request. When a process ends, for whatever reason,
/// another one can claim its runs at once.
///
/// The first opening of a file in a process turns off the memory statistics of SQLite
/// (`SQLITE_CONFIG_MEMSTATUS`), unless the process has used SQLite before.
///
/// Events, cancellations and retries are requests to a store. They need no worker in the same
/// process. See <doc:FlowsThatSurviveACrash>.
public struct RunStore: Sendable {
  /// The requests that the store can make.
  package let backend: any RunBackend
  /// The time of the store, by which ages of its runs are determined.
  package var now: Date { Date(milliseconds: backend.now) }

  package init(_ backend: any RunBackend) { self.backend = backend }

  /// Returns a store in an SQLite file.
  ///
  /// - Parameters:
  ///   - path: The path of the file, relative to the present working folder. Beside the file is its log. It
  ///     must be on a local disk.
  ///   - options: The settings.
  public static func sqlite(
    _ path: String, options: RunStoreOptions = RunStoreOptions()
  ) -> RunStore {
    RunStore(SQLiteRunBackend(file: path, options: options))
  }

  /// Returns a store in memory, for tests. It ends with the process.
  ///
  /// - Parameter options: The settings.
  public static func memory(options: RunStoreOptions = RunStoreOptions()) -> RunStore {
    RunStore(SQLiteRunBackend(file: nil, options: options))
  }

  /// Returns a store in an SQLite file that calls a function at its commits, for tests of crashes.
  package static func sqlite(
    _ path: String, options: RunStoreOptions = RunStoreOptions(),
    onCommit hook: @escaping CommitHook
  ) -> RunStore {
    RunStore(SQLiteRunBackend(file: path, options: options, onCommit: hook))
  }

  /// Returns a store in an SQLite file on a file system whose locks fail, for tests.
  package static func sqlite(_ path: String, failingToLockWith error: SystemError) -> RunStore {
    RunStore(SQLiteRunBackend(file: path, options: RunStoreOptions(), lockError: error))
  }

  // MARK: Starting

  /// Starts a run, which a ``DurableWorker`` runs.
  ///
  /// - Parameters:
  ///   - flow: The sequence, in its initial state.
  ///   - id: The name of the run. The same name with the same flow and state is the same run.
  /// - Returns: A handle to the new run, or to the run that has the name.
  /// - Throws: A ``DurableRunError`` if the run with the name is of another flow, or began with another state
  ///   of the same flow, or if its first state cannot be decoded; a ``RunStoreError``.
  @discardableResult
  public func start<Flow: DurableSequence>(
    _ flow: Flow, named id: RunID
  ) async throws -> DurableRun<Flow.Output> {
    let (_, isNew) = try await backend.start(flow, named: id)
    return DurableRun(id, of: Flow.self, isNew: isNew, in: self)
  }

  // MARK: Looking

  /// Returns a run with its steps.
  ///
  /// - Parameter id: The name of the run.
  /// - Returns: Nil if there is no such run.
  /// - Throws: A ``RunStoreError``.
  public func run(_ id: RunID) async throws -> RunDetails? { try await run(id) { _ in nil } }

  /// Returns a run with its last steps.
  ///
  /// - Parameters:
  ///   - id: The name of the run.
  ///   - count: Returns how many finished steps to read; nil for all.
  /// - Returns: Nil if there is no such run.
  /// - Throws: A ``RunStoreError``.
  package func run(
    _ id: RunID, last count: (RunSummary) -> Int?
  ) async throws -> RunDetails? {
    guard let run = try await backend.run(id) else { return nil }
    let summary = RunSummary(run, backend.ownerState(of: run))
    let parts = try await backend.parts(of: id, last: count(summary))
    let running = run.state == .running ? try await backend.runningStep(of: run) : nil
    return RunDetails(
      summary: summary, steps: (parts.steps + parts.keys).map { RunDetails.Step($0) },
      running: running, outcome: run.outcome, sequence: run.sequence)
  }

  /// Returns runs, the newest first.
  ///
  /// - Parameters:
  ///   - flow: The name of the flow; nil for any flow. Also finds runs under its former names
  ///     (``RunStoreOptions/aliases``). A former name finds only the runs under that name.
  ///   - states: The states; empty for all.
  ///   - limit: The maximum number of runs.
  ///   - previous: The last run of the page before; nil for the first page.
  /// - Throws: A ``RunStoreError``.
  public func runs(
    of flow: String? = nil, in states: Set<RunState> = [], limit: Int = 1_000,
    after previous: RunSummary? = nil
  ) async throws -> [RunSummary] {
    var selection = selection(of: flow, in: states)
    selection.limit = limit
    selection.after = previous.map(RunSelection.position)
    return try await runs(selection)
  }

  /// The selection of runs of a flow, also under its former names.
  ///
  /// - Parameters:
  ///   - flow: The name of the flow; nil for any flow.
  ///   - states: The states; empty for all.
  ///   - age: How long ago they began at most, by the clock of the store; nil for any time.
  package func selection(
    of flow: String?, in states: Set<RunState>, startedWithin age: Duration? = nil
  ) -> RunSelection {
    RunSelection(
      flows: flow.map { backend.options.names(ofFlow: $0) } ?? [],
      states: RunState.allCases.filter(states.contains),
      since: age.map { backend.now - $0.roundedUpMilliseconds })
  }

  /// Returns selected runs, the newest first.
  ///
  /// - Throws: A ``RunStoreError``.
  package func runs(_ selection: RunSelection) async throws -> [RunSummary] {
    try await backend.runs(selection)
      .map { RunSummary($0, backend.ownerState(of: $0)) }
  }

  /// Counts the runs of a selection by flow and state, without regard to its limit and the page
  /// before.
  ///
  /// - Throws: A ``RunStoreError``.
  package func counts(of selection: RunSelection = RunSelection()) async throws -> [RunCount] {
    try await backend.counts(of: selection)
  }

  /// Returns the totals of all runs by flow and state, in the order of both.
  ///
  /// - Throws: A ``RunStoreError``.
  package func totals() async throws -> [RunTotals] { try await backend.totals() }

  /// Returns a text that changes with every change of the store, and perhaps without one.
  ///
  /// - Throws: A ``RunStoreError``.
  package func version() async throws -> String { try await backend.version() }

  // MARK: Acting

  /// Cancels a run and its child flows.
  ///
  /// The request is stored first. A run that is not running ends at once. A running one is cancelled
  /// within a second, or two in PostgreSQL, and begins no further step. Its outcome is a cancellation
  /// with the reason. A run that has ended does not change.
  ///
  /// - Parameters:
  ///   - id: The name of the run.
  ///   - reason: The reason, which stays with the run.
  /// - Throws: A ``RunStoreError``, also if there is no such run.
  public func cancel(_ id: RunID, because reason: String? = nil) async throws {
    try await backend.cancel(id, because: reason)
  }

  /// Resumes a run from one of its steps. The run must have ended, or be ``RunState/stuck`` or
  /// ``RunState/parked``.
  ///
  /// This step and the later ones are deleted, with their effects on the state of the sequence. The events that
  /// they have received count for the steps that follow, unless they are replaced.
  ///
  /// - Parameters:
  ///   - id: The name of the run.
  ///   - step: The first step to run again. By default, this is the last step if it failed. If it
  ///     has not failed, no step is repeated, and the next one follows.
  /// - Throws: A ``RunStoreError``, also if the run is ready or running, or if the store has not
  ///   kept the step before `step`.
  public func retry(_ id: RunID, from step: Int? = nil) async throws {
    try await backend.retry(id, from: step)
  }

  /// Sends an event to a run, for an ``AwaitedEvent``.
  ///
  /// The first event of a name counts. An event does not count after the limit of the wait for it.
  ///
  /// - Parameters:
  ///   - payload: What the waiting operation returns.
  ///   - event: The name of the event.
  ///   - id: The name of the run.
  ///   - replaces: Whether the event replaces an earlier event that no finished step has received. If the run has
  ///     ended in an error, a failed last step does not count, so that ``retry(_:from:)`` uses the new event.
  /// - Returns: Whether the event counts.
  /// - Throws: A ``RunStoreError``, also if there is no such run or it has ended.
  @discardableResult
  public func send(
    _ payload: some Codable & Sendable, as event: String, to id: RunID,
    replacing replaces: Bool = false
  ) async throws -> Bool {
    let text: String
    do { text = try backend.options.coder.encode(payload) } catch {
      throw RunStoreError(
        .notEncodable, "event '\(event)' for run \(id) cannot be encoded: \(error)")
    }
    if let problem = backend.options.problem(ofSize: text.utf8.count) {
      throw RunStoreError(.tooLarge, "event '\(event)' for run \(id) \(problem)")
    }
    return try await backend.send(text, as: event, to: id, replacing: replaces)
  }

  /// Deletes ended runs.
  ///
  /// - Parameter age: How long ago they must have ended.
  /// - Returns: How many were deleted.
  /// - Throws: A ``RunStoreError``.
  @discardableResult
  public func forget(olderThan age: Duration) async throws -> Int {
    let age = max(0, age.roundedUpMilliseconds)
    var count = 0
    while true {
      let deleted = try await backend.forget(olderThan: age)
      count += deleted
      if deleted < 1_000 { return count }
    }
  }

  /// Deletes one run, which must have ended.
  ///
  /// - Throws: A ``RunStoreError``, also if there is no such run or it has not ended.
  public func forget(_ id: RunID) async throws { try await backend.forget(id) }

  /// Checks the file and its contents.
  ///
  /// - Returns: A line for each problem; stuck runs count as problems.
  /// - Throws: A ``RunStoreError``.
  public func check() async throws -> [String] { try await backend.check() }

  /// Copies the journal as it is now into a new SQLite file, while programs use it.
  ///
  /// A copy by other means may lack the last changes, which are in the log beside the file. Runs that are running
  /// are running in the copy, too, and a worker of the copy would continue them. So use a copy only in place of the
  /// journal, or to look at it.
  ///
  /// - Parameter path: The path of the new file.
  /// - Throws: A ``RunStoreError``, also if the file exists, or if the store is not in SQLite.
  public func copy(to path: String) async throws { try await backend.copy(to: path) }
}

extension RunSummary {
  init(_ run: StoredRun, _ owner: OwnerState) {
    let problem: String? = if case .unknown(let reason) = owner { reason } else { nil }
    self.init(
      id: run.id, flow: run.flow, state: owner == .hasEnded ? .interrupted : run.state,
      step: run.stepCount, attempt: run.claims,
      wakes: run.state == .parked ? run.wake.map { Date(milliseconds: $0) } : nil,
      event: run.event, reason: run.reason ?? run.failure, parent: run.parent, owner: run.owner,
      worker: run.worker, ownerHasEnded: owner == .hasEnded, ownerProblem: problem,
      began: Date(milliseconds: run.began), updated: Date(milliseconds: run.updated),
      ended: run.ended.map { Date(milliseconds: $0) },
      cancelled: run.cancelled.map { Date(milliseconds: $0) })
  }
}

extension StoredRun {
  /// The first line of the description of the error in which the run has ended; nil if it has not, or if the error
  /// cannot be read, such as in an encrypted journal.
  fileprivate var failure: String? {
    guard state == .error, let outcome else { return nil }
    let (decoder, data) = (JSONDecoder(), Data(outcome.utf8))
    let error =
      (try? decoder.decode(StoredRunError.self, from: data))?.error
      ?? (try? decoder.decode(StoredError.self, from: data))
    return error.flatMap {
      $0.description.split(whereSeparator: \.isNewline).first.map(String.init)
    }
  }
}

extension RunDetails.Step {
  init(_ row: StoredStep) {
    self.init(
      position: row.position, key: row.key, name: row.name, kind: row.kind, value: row.value,
      state: row.sequence, attempts: row.attempts, began: Date(milliseconds: row.began),
      ended: Date(milliseconds: row.ended), fence: row.fence, worker: row.worker)
  }
}

extension RunSelection {
  /// The position of a run in the order of lists.
  package static func position(of run: RunSummary) -> (began: Int64, id: RunID) {
    (Int64(milliseconds: run.began), run.id)
  }
}

extension Date {
  init(milliseconds: Int64) {
    self.init(timeIntervalSince1970: Double(milliseconds) / 1_000)
  }
}

extension Int64 {
  /// Milliseconds since the beginning of 1970, UTC.
  init(milliseconds date: Date) {
    self = Int64((date.timeIntervalSince1970 * 1_000).rounded())
  }
}
