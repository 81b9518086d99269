// For command-line programs.
extension RunStore {
  /// Returns a run without its steps.
  ///
  /// - Returns: Nil if there is no such run.
  /// - Throws: A ``RunStoreError``.
  package func summary(of id: RunID) async throws -> RunSummary? {
    try await backend.run(id).map { RunSummary($0, ownerHasEnded: backend.ownerHasEnded(of: $0)) }
  }

  /// Sends an event whose payload is encoded already, for an ``AwaitedEvent``.
  ///
  /// - Parameter payload: The payload, as the coder of the store encodes it.
  /// - Throws: A ``RunStoreError``, also if there is no such run or it has ended.
  package func send(encoded payload: String, as event: String, to id: RunID) async throws {
    try await backend.send(payload, as: event, to: id)
  }

  /// Closes the store at the end of the program, which removes the log beside the file. No request
  /// may follow.
  package func close() async { await backend.close() }
}
