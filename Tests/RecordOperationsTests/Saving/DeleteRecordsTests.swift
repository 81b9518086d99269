import CompositeOperations
import RecordOperations
import Testing

@Suite struct DeleteRecordsTests {
  private let ids = (0..<5).map { RecordID("Book", "\($0)") }

  private func filled(limits: RecordLimits = RecordLimits()) async throws -> MemoryRecordDatabase {
    let database = MemoryRecordDatabase(limits: limits)
    for id in ids { try await database.save(record(id.name, ["a": 1])) }
    return database
  }

  @Test(arguments: [1, 2, 3, 5])
  func `records are deleted by name`(limit: Int) async throws {
    let database = try await filled(limits: RecordLimits(items: limit))
    #expect(try await DeleteRecords(ids + ids, in: database).run().get() == ids)
    #expect(try await QueryRecords("Book", in: database).run().get().isEmpty)
  }

  @Test func `a missing record is an error unless missing records are ignored`() async throws {
    let database = try await filled()
    let missing = RecordID("Book", "x")
    let error = await DeleteRecords([ids[0], missing], in: database).run().error
    #expect((error as? RecordBatchError)?.deleted == [ids[0]])
    #expect((error as? RecordBatchError)?[missing]?.name == "unknownRecord")
    let both = DeleteRecords([ids[1], missing], in: database, ignoringMissing: true)
    #expect(await both.run().result == [ids[1], missing])
  }

  @Test func `D1: deleting a record that another writer has changed is a conflict`() async throws {
    let database = try await filled()
    let read = try await QueryRecords("Book", in: database).run().get()
    try await database.save(record("1", ["a": 2]))
    let error = await DeleteRecords(read, in: database).run().error as? RecordBatchError
    #expect(error?.deleted.count == 4)
    #expect(error?.failures.map(\.name) == ["conflict"])
    #expect(try await database.record(ids[1])?["a"] == 2)
  }

  @Test func `D2: an atomic delete deletes all or none`() async throws {
    let database = try await filled()
    let some = ids + [RecordID("Book", "x")]
    let error = await DeleteRecords(some, in: database, atomic: true).run().error
    #expect((error as? RecordBatchError)?.failures.count == 6)
    #expect(try await QueryRecords("Book", in: database).run().get().count == 5)
  }

  @Test func `an atomic delete omits missing records if they are ignored`() async throws {
    let database = try await filled()
    let missing = ["x", "y"].map { RecordID("Book", $0) }
    let some = [missing[0], ids[0], missing[1], ids[1]]
    let delete = DeleteRecords(some, in: database, ignoringMissing: true, atomic: true)
    #expect(await delete.run().result == some)
    #expect(try await QueryRecords("Book", in: database).run().get().count == 3)
    // If another deletion fails, nothing is deleted.
    let failing = FaultyRecordDatabase(database) { _, _ in
      .failing { $0.id.name == "2" ? RecordError(.notPermitted("no")) : nil }
    }
    let error =
      await DeleteRecords(
        missing + ids[2...3], in: failing, ignoringMissing: true, atomic: true
      ).run().error as? RecordBatchError
    #expect(error?.deleted.isEmpty == true && error?.failures.count == 4)
  }

  @Test func `missing records add two requests to an atomic delete, however many there are`()
    async throws
  {
    let database = FaultyRecordDatabase(try await filled()) { _, _ in nil }
    let missing = (0..<100).map { RecordID("Book", "missing \($0)") }
    let delete = DeleteRecords(
      missing + ids, in: database, ignoringMissing: true, atomic: true)
    #expect(await delete.run().result?.count == 105)
    #expect(database.requestCount == 3)
  }

  @Test
  func `D4: after a lost request, an atomic delete does not count missing records as deleted`()
    async throws
  {
    let base = try await filled()
    let database = FaultyRecordDatabase(base) { request, number in
      if case .modify = request, number == 1 { .losingRequest } else { nil }
    }
    let missing = RecordID("Book", "x")
    let delete = DeleteRecords(
      [missing, ids[0]], in: database, atomic: true, retries: RetryPolicy(attempts: 3))
    let error = await delete.run().error as? RecordBatchError
    #expect(error?[missing]?.name == "unknownRecord" && error?[ids[0]]?.name == "batchFailed")
    #expect(try await base.record(ids[0]) != nil)
  }

  @Test func `D4: after a lost reply, missing records count as deleted`() async throws {
    let base = try await filled()
    let database = FaultyRecordDatabase(base) { request, number in
      if case .modify = request, number == 1 { .losingReply } else { nil }
    }
    let delete = DeleteRecords(ids, in: database, retries: RetryPolicy(attempts: 2))
    #expect(await delete.run().result == ids)
  }
}
