// For command-line programs.
extension RunStore {
  /// Returns a run without its steps, which is quicker than ``run(_:)``.
  ///
  /// - Parameter id: The name of the run.
  /// - Returns: Nil if there is no such run.
  /// - Throws: A ``RunStoreError``.
  public func summary(of id: RunID) async throws -> RunSummary? {
    try await backend.run(id).map { RunSummary($0, backend.ownerState(of: $0)) }
  }

  /// Sends an event whose payload is encoded already, for an ``AwaitedEvent``.
  ///
  /// - Parameters:
  ///   - payload: The payload, as the coder of the store encodes it.
  ///   - event: The name of the event.
  ///   - id: The name of the run.
  ///   - replaces: Whether the event replaces an earlier event that no finished step has received.
  /// - Returns: Whether the event counts.
  /// - Throws: A ``RunStoreError``, also if there is no such run or it has ended.
  @discardableResult
  package func send(
    encoded payload: String, as event: String, to id: RunID, replacing replaces: Bool = false
  ) async throws -> Bool {
    try await backend.send(payload, as: event, to: id, replacing: replaces)
  }

  /// Returns the last events that were sent to a run, the newest first.
  ///
  /// - Parameter count: The maximum number of events.
  /// - Throws: A ``RunStoreError``.
  package func events(of id: RunID, last count: Int = .max) async throws -> [StoredEvent] {
    try await backend.events(of: id, last: count)
  }

  /// Returns the payload of an event that was sent to a run; nil if there is none.
  ///
  /// - Throws: A ``RunStoreError``.
  package func event(_ name: String, of id: RunID) async throws -> String? {
    try await backend.event(name, of: id)?.payload
  }

  /// Whether this process may change the store, as far as the store can tell without a change.
  ///
  /// - Throws: A ``RunStoreError``.
  package func canWrite() async throws -> Bool { try await backend.canWrite() }

  /// Closes the store at the end of a program.
  ///
  /// An SQLite store then removes the log beside its file, if no other process uses it. Without this
  /// call, no change is lost: the next process reads the log. No request may follow.
  public func close() async { await backend.close() }
}
