import Foundation
import RecordOperations
import Testing

/// Compares the results of the database with an evaluation in Swift.
@Suite struct SQLiteQueryDifferentialTests {
  static let blocks = Array(stride(from: UInt64(0), to: 500, by: 50))

  @Test(arguments: blocks)
  func `a query finds the same records as its predicate in Swift, in the same order`(
    block: UInt64
  ) async throws {
    for seed in block..<block + 50 {
      var samples = Samples(seed: seed)
      let folder = try TemporaryFolder()
      try execute(Samples.schema + samples.indexes(), in: folder.file())
      let database = SQLiteRecordDatabase(folder.file(), SQLiteOptions(readers: 1))
      let records = samples.records(24)
      let batch = RecordBatch(records.map { .save($0, .ifUnchanged) }, isAtomic: true)
      let saved = try await database.modify(batch).map { try $0.saved }
      let read = try await database.all(RecordQuery("T"))
      try #require(read == saved, "seed \(seed)")
      for _ in 0..<8 {
        let predicate = samples.predicate(depth: 3)
        let order = samples.order()
        let expected = saved.filter { predicate.matches($0) }.sorted { order.precedes($0, $1) }
        let query = RecordQuery("T", where: predicate, sortedBy: order)
        let found = try await database.all(query, page: samples.pageSize())
        #expect(
          found.map(\.id.name) == expected.map(\.id.name),
          "seed \(seed), \(predicate), \(order)")
      }
    }
  }
}

extension [RecordOrder] {
  func precedes(_ one: DatabaseRecord, _ other: DatabaseRecord) -> Bool {
    for order in self {
      let (first, second) = (one[order.key], other[order.key])
      let isAscending = order.direction == .ascending
      if first.precedes(second) { return isAscending }
      if second.precedes(first) { return !isAscending }
    }
    return false
  }
}
