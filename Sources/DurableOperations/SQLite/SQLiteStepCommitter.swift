internal import SQLiteSupport

/// Makes changes of the file in the transactions of its journal.
struct SQLiteStepCommitter: StepCommitter {
  let database: String
  let backend: SQLiteRunBackend

  func commit<Value: Sendable>(
    dropping dropped: Range<Int>, hasKeys: Bool, by claim: ClaimToken,
    _ changes: @escaping @Sendable (SQLiteConnection) throws -> CommittedValue<Value>
  ) async throws -> CommittedValue<Value> {
    let now = backend.now
    return try await backend.writeInSavepoint { [options = backend.options] connection in
      let committed = try changes(connection)
      let types = options.json(committed.row)
      if committed.row.key.isEmpty {
        try connection.append(
          committed.row, types, dropping: dropped, hasKeys: hasKeys, by: claim, now: now)
      } else {
        try connection.store(key: committed.row, types, by: claim)
      }
      return committed
    }
  }
}
