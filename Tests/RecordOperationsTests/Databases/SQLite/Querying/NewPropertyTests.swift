import Foundation
import RecordOperations
import Testing

/// Queries for a property that no record has yet.
@Suite struct NewPropertyTests {
  private static let new = Field<FieldValue>("lent")

  private static let predicates: [RecordPredicate] = [
    new == .integer(1), new != .integer(1), new.isNull, new == nil, new != nil,
    new < .string("a"), new > .date(.distantPast), new.isOne(of: [.integer(1), .string("a")]),
    new.isOne(of: [.integer(1), .null]), !(new < .integer(1)), new == .bytes([1]),
    new == .reference(RecordReference(RecordID("Author", "jane"))),
    .hasPrefix("lent", ""), .contains("lent", "a"), .includes("lent", .integer(1)),
    !RecordPredicate.includes("lent", .integer(1)), new == .integer(1) || Field("pages") > 1,
  ]

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func databases() async throws -> (SQLiteRecordDatabase, MemoryRecordDatabase) {
    let (file, memory) = (SQLiteRecordDatabase(folder.file()), MemoryRecordDatabase())
    for number in 1...5 {
      let record = record("\(number)", type: "Book", ["pages": .integer(Int64(number % 3))])
      try await file.save(record)
      try await memory.save(record)
    }
    return (file, memory)
  }

  @Test(arguments: predicates.indices)
  func `D5: a property that no record has yet is null`(index: Int) async throws {
    let (file, memory) = try await databases()
    let order: [RecordOrder] = [.descending("lent"), .ascending("pages")]
    let query = RecordQuery("Book", where: Self.predicates[index], sortedBy: order)
    let found = try await file.all(query, page: 2).map(\.id.name)
    let expected = try await memory.all(query, page: 2)
    #expect(Set(found) == Set(expected.map(\.id.name)))
    #expect(found.count == expected.count)
  }

  @Test func `D5: the first value of a property is found, and a key without a value is null`()
    async throws
  {
    let (file, _) = try await databases()
    let query = RecordQuery("Book", where: Self.new != nil, keys: ["lent"])
    #expect(try await file.all(query) == [])
    let all = try await file.all(RecordQuery("Book", keys: ["lent"]))
    #expect(all.map { $0["lent"] } == Array(repeating: .null, count: 5))
    var first = all[0]
    first["lent"] = .integer(1)
    try await file.save(first)
    #expect(try await file.all(query).map { $0["lent"] } == [.integer(1)])
  }

  @Test func `D5: a missing column of another program's table is an error`() async throws {
    try execute(["CREATE TABLE Book (id TEXT PRIMARY KEY, title)"], in: folder.file())
    let file = SQLiteRecordDatabase(folder.file())
    let error = await #expect(throws: RecordError.self) {
      try await file.all(RecordQuery("Book", where: Self.new == nil))
    }
    #expect(error.map { "\($0)" }?.contains("Book has no column \"lent\"") == true)
  }
}
