import CompositeOperations
import Foundation
import RecordOperations
import Testing

@Suite(.timeLimit(.minutes(10))) struct RecordWriterTests {
  private struct Wrong: Error {}

  private let folder: TemporaryFolder
  private let database: SQLiteRecordDatabase

  init() throws {
    folder = try TemporaryFolder()
    database = SQLiteRecordDatabase(folder.file())
  }

  private var names: [String] {
    get async throws {
      try await QueryRecords("Book", in: database).run().get().map(\.id.name).sorted()
    }
  }

  @Test func `a writer sees its own changes, which are committed together`() async throws {
    let found = try await database.transaction { writer in
      #expect(try writer.record(RecordID("Book", "1")) == nil)
      #expect(try writer.records(RecordQuery("Book")) == [])
      let saved = try writer.save([record("1", ["a": 1]), record("2", ["a": 2])])
      #expect(saved.allSatisfy { $0.tag != nil })
      try writer.delete([RecordID("Book", "1")])
      var second = saved[1]
      second["a"] = 3
      try writer.save([second])
      #expect(try writer.record(second.id)?["a"] == 3)
      try writer.save([record("3", ["a": 4])])
      let query = RecordQuery("Book", sortedBy: [.descending("a")])
      #expect(try writer.records(query, limit: 1).map(\.id.name) == ["3"])
      #expect(try writer.records(query, limit: 0) == [])
      return try writer.records(query).map(\.id.name)
    }
    #expect(found == ["3", "2"])
    #expect(try await names == ["2", "3"])
    // Its changes are recorded like any others.
    #expect(try await FetchChanges(in: database).run().get().changed.count == 2)
  }

  @Test func `an error rolls back all changes of a writer`() async throws {
    await #expect(throws: Wrong.self) {
      try await database.transaction { writer in
        try writer.save([record("1")])
        throw Wrong()
      }
    }
    #expect(try await names == [])
  }

  @Test func `a save or a deletion changes all of its records or none`() async throws {
    let reasons = try await database.transaction { writer -> [String] in
      try writer.save([record("1")])
      let attempts: [() throws -> Void] = [
        { try writer.save([record("2"), record("1")]) },
        { try writer.delete([RecordID("Book", "1"), RecordID("Book", "none")]) },
      ]
      var reasons: [String] = []
      for attempt in attempts {
        do { try attempt() } catch let error as RecordError {
          reasons.append("\(error)")
        }
      }
      try writer.delete([RecordID("Book", "none"), RecordID("None", "1")], ignoringMissing: true)
      return reasons
    }
    #expect(
      reasons == [
        "Book/1: conflict: the record has changed (tag 1); fetch it again and retry",
        "Book/none: record not found",
      ])
    #expect(try await names == ["1"])
  }

  @Test func `values are saved as records, and an invalid query is an error`() async throws {
    struct Edition: Codable, Identifiable, RecordConvertible {
      let id: String
      var pages: Int
    }
    try await database.transaction { writer in
      try writer.save([Edition(id: "1", pages: 7)])
      try writer.save([Edition(id: "1", pages: 8)])
      #expect(throws: RecordError.self) {
        try writer.records(RecordQuery("Edition", where: Field("none") == 1))
      }
    }
    let edition = try await database.lookup([RecordID("Edition", "1")], keys: nil).first?.value
    #expect(try edition.map { try Edition($0).pages } == 8)
  }

  @Test func `a cancelled task rolls the changes of its writer back`() async throws {
    let database = database
    let (begun, continuation) = AsyncStream.makeStream(of: Void.self)
    let gate = DispatchSemaphore(value: 0)
    let task = Task {
      try await database.transaction { writer in
        try writer.save([record("1")])
        continuation.yield()
        gate.wait()
        _ = try? writer.save([record("2")])
      }
    }
    for await _ in begun { break }
    task.cancel()
    gate.signal()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await names == [])
  }
}
