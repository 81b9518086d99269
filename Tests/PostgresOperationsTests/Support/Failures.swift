internal import PostgresOperations

/// Returns the error that a body throws.
func failure(_ body: () throws -> Void) -> PostgresError? {
  do { try body() } catch { return error as? PostgresError }
  return nil
}

/// Returns the error that an asynchronous body throws.
func postgresError(_ body: () async throws -> Void) async -> PostgresError? {
  do { try await body() } catch { return error as? PostgresError }
  return nil
}

extension PostgresConnection {
  /// Executes a statement, and returns the integer in its first row.
  func number(_ statement: PostgresStatement) throws -> Int64? {
    try rows(statement).integer(0, 0)
  }
}
