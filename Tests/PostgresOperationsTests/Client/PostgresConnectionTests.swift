import PostgresOperations
import Testing

@Suite(.enabled(if: PrivateServer.missingServer == nil), .timeLimit(.minutes(2)))
struct PostgresConnectionTests {
  @Test func `a new database has the schema of Absurd`() async throws {
    let pool = PostgresPool(to: try await PrivateServer.shared.freshDatabase())
    let rows = try await pool.rows(
      PostgresStatement("version", "SELECT absurd.get_schema_version()"), [], order: "")
    #expect(rows.text(0, 0) == "0.5.1")
  }
}
