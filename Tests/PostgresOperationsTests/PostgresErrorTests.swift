import PostgresOperations
import Testing

@Suite struct PostgresErrorTests {
  @Test func `an error has the code of the server`() {
    #expect(PostgresError(.refused, code: "40P01", "deadlock").code == "40P01")
  }
}
