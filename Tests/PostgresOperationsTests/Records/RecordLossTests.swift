import CompositeOperations
import PostgresOperations
import PostgresTestSupport
import RecordOperations
import Testing

/// Tests that lose the connection.
@Suite(
  .serialized, .enabled(if: PrivateServer.missingServer == nil), .timeLimit(.minutes(10)))
struct RecordLossTests {
  private static let server = PrivateServer()

  @Test func `D14: a lost connection is unavailable before the commit and a lost reply after it`()
    async throws
  {
    let schema = try await RecordSchema(on: Self.server)
    try await schema.database().save(record("Book", "0", ["a": 1]))
    let proxy = try CuttingProxy(in: Self.server.folder)
    var reasons: [String] = []
    var count = 0
    while true {
      let name = "\(count)-cut"
      let database = schema.database(at: schema.address + "&port=5433", connections: 1)
      proxy.cut(after: count)
      let error = await recordError { try await database.save(record("Book", name, ["a": 2])) }
      await database.close()
      let isStored = try await schema.database().record("Book", name) != nil
      switch error?.reason {
      case .unavailable?:
        #expect(!isStored, "\(count)")
        reasons.append("unavailable")
      case .replyLost?:
        // The server had received the commit.
        #expect(isStored, "\(count)")
        reasons.append("replyLost")
      case nil:
        #expect(isStored)
        // Every reply of the save was lost once.
        #expect(
          reasons.last == "replyLost" && reasons.dropLast().allSatisfy { $0 == "unavailable" })
        #expect(reasons.count >= 4, "\(reasons)")
        return
      default:
        Issue.record("\(count): \(error as Any)")
        return
      }
      count += 1
    }
  }

  @Test func `D14: a save is made once, whichever reply is lost`() async throws {
    let schema = try await RecordSchema(on: Self.server)
    try await schema.database().save(record("Book", "0", ["a": 1]))
    let proxy = try CuttingProxy(in: Self.server.folder)
    var count = 0
    repeat {
      let database = schema.database(at: schema.address + "&port=5433", connections: 1)
      proxy.cut(after: count)
      let saved = try await SaveRecords(
        [record("Book", "\(count)-once", ["a": 2])], in: database,
        retries: RetryPolicy(attempts: 3)
      ).run().get()
      #expect(saved.first?["a"] == 2)
      await database.close()
      count += 1
    } while proxy.hasCut
    #expect(count > 4)
    let states = try await schema.query(
      "select count(*) from record_states where name like '%-once'")
    #expect(states == "\(count)")
  }

  @Test func `a batch is saved with a few waits for the server`() async throws {
    let schema = try await RecordSchema(on: Self.server)
    try await schema.database().save(record("Book", "0", ["a": 1]))
    let proxy = try CuttingProxy(in: Self.server.folder)
    let database = schema.database(at: schema.address + "&port=5433", connections: 1)
    try await database.save(record("Book", "1", ["a": 1]))
    let before = proxy.replies
    let batch = RecordBatch((0..<500).map { .save(record("Book", "b\($0)", ["a": 1]), .allKeys) })
    #expect(try await database.modify(batch).allSatisfy { $0.error == nil })
    // A reply may arrive in several parts. The first waits read the new statements, too.
    #expect(proxy.replies - before <= 12, "\(proxy.replies - before)")
    await database.close()
  }

  @Test func `a server that does not run is unavailable, and no error contains the password`()
    async throws
  {
    let server = PrivateServer()
    let address = try await server.freshDatabase(hasSchema: false)
    try await server.query("create role secured login password 'right'")
    let wrong =
      address.replacing("postgresql://postgres@", with: "postgresql://secured:se%63ret@")
    let refused = await recordError {
      _ = try await PostgresRecordDatabase(wrong).identity()
    }
    guard case .notPermitted? = refused?.reason else {
      Issue.record("\(refused as Any)")
      return
    }
    #expect(try await PostgresRecordDatabase(wrong).accountStatus() == .restricted)
    try await server.stop(.fast)
    let database = PostgresRecordDatabase(wrong)
    let stopped = await recordError { _ = try await database.identity() }
    guard case .unavailable? = stopped?.reason else {
      Issue.record("\(stopped as Any)")
      return
    }
    #expect(try await database.accountStatus() == .temporarilyUnavailable)
    for error in [refused, stopped] {
      let text = "\(error as Any)"
      #expect(!text.contains("se%63ret") && !text.contains("secret"), "\(text)")
      #expect(text.contains("***"), "\(text)")
    }
  }
}
