extension RunStore {
  /// Does something with a run for a person, and keeps who has done what, and when. The row is there before it is
  /// done, so that nothing is done without a row.
  ///
  /// - Parameters:
  ///   - action: Such as `cancel`.
  ///   - detail: See ``RecordedAction/detail``.
  ///   - actor: The person.
  ///   - id: The run, whose row stays after the run is deleted.
  ///   - body: Does it.
  /// - Throws: The error of the body; a ``RunStoreError`` if the row cannot be stored.
  package func recording<Result>(
    _ action: String, _ detail: String?, by actor: String, on id: RunID,
    _ body: () async throws -> Result
  ) async throws -> Result {
    let record = RecordedAction(action: action, detail: detail, actor: actor, began: backend.now)
    let number = try await backend.add(record, on: id)
    func end(_ problem: String?) async {
      guard let number else { return }
      // An action is not undone: a row without an end says that it is not known.
      try? await backend.endAction(number, problem: problem)
    }
    do {
      let result = try await body()
      await end(nil)
      return result
    } catch {
      await end("\(error)")
      throw error
    }
  }

  /// Returns the last actions on a run, at most `count`, the newest first; none if the store keeps none.
  package func actions(on id: RunID, last count: Int = 100) async throws -> [RecordedAction] {
    try await backend.actions(on: id, last: count)
  }
}
