internal import CompositeOperations
package import RecordOperations

extension PostgresRecordDatabase {
  package func withWriter<Response: Sendable>(
    of type: String, _ body: @escaping @Sendable (any ServedRowWriter) throws -> Response
  ) async throws -> Response {
    let schema = schema
    do {
      return try await interruptible { connection, interruption in
        let session = PostgresRecordSession(connection: connection, schema: schema)
        return try body(PostgresRowWriter(type, session, interruption))
      }
    } catch let error as PostgresError {
      // There was no connection.
      throw error.translated(isAfterCommit: false)
    }
  }
}
