internal import CompositeOperations
internal import SQLiteSupport

// Writes of the process that runs a run, together with other changes of the file.
extension SQLiteRunBackend {
  func commit<Value: Sendable>(
    dropping dropped: Range<Int>, hasKeys: Bool, by claim: ClaimToken,
    _ changes: @escaping @Sendable (SQLiteConnection) throws -> CommittedValue<Value>
  ) async throws -> CommittedValue<Value> {
    let now = now
    return try await writeInSavepoint { [options] connection in
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
