public import CompositeOperations

/// A handle to a run in a store. A worker runs it, in this or in another process.
public struct DurableRun<Output: Sendable>: Sendable {
  /// The name of the run.
  public let id: RunID
  /// Whether the call that returned this handle has started the run.
  public let isNew: Bool
  private let store: RunStore
  private let driver: RunDriver
  private let readOutcome: @Sendable (StoredRun) async throws -> Outcome<Output>

  init<Flow: DurableSequence>(
    _ id: RunID, of flow: Flow.Type, isNew: Bool, in store: RunStore
  ) where Flow.Output == Output {
    self.id = id
    self.isNew = isNew
    self.store = store
    driver = RunDriver(id, of: flow, in: store.backend)
    readOutcome = { try await store.backend.outcome(of: $0, as: flow) }
  }

  /// The outcome of the run. Waits until it has ended.
  ///
  /// A worker runs it. If the process ends that runs it, this process may be the first to notice, and then
  /// continues the run itself.
  ///
  /// - Throws: A ``DurableRunError`` if the run is stuck; a ``RunStoreError``; `CancellationError` if
  ///   the task is cancelled, which does not cancel the run.
  public var outcome: Outcome<Output> {
    get async throws { try await outcome(continuing: true) }
  }

  /// The outcome of the run. Waits until it has ended.
  ///
  /// - Parameter continues: Whether this process continues the run of a process that has ended.
  /// - Throws: See ``outcome``.
  package func outcome(continuing continues: Bool) async throws -> Outcome<Output> {
    try await readOutcome(
      try await driver.waitForEnd(continuing: continues, in: OperationContext()))
  }

  /// Cancels the run in its store.
  ///
  /// - Parameter reason: The reason, which stays with the run.
  /// - Throws: A ``RunStoreError``.
  public func cancel(because reason: String? = nil) async throws {
    try await store.cancel(id, because: reason)
  }
}
