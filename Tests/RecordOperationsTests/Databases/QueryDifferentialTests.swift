import RecordOperations
import Testing

/// Compares the results of each kind of database with an evaluation in Swift.
@Suite struct QueryDifferentialTests {
  @Test(arguments: DatabaseKind.complete, [0, 1, 2, 3])
  func `D5: every database finds the records of a predicate, in the order of the query`(
    kind: DatabaseKind, block: UInt64
  ) async throws {
    for seed in block * 15..<(block + 1) * 15 {
      var samples = Samples(seed: seed, keys: Samples.ownKeys)
      let database = try kind.make()
      for name in ["a", "B", "b", "10"] { try await database.save(record(name, type: "Author")) }
      // Each column gets its type from the first value that is not null.
      let records = samples.records(24)
      let batch = RecordBatch(records.map { .save($0, .ifUnchanged) }, isAtomic: true)
      let saved = try await database.modify(batch).map { try $0.saved }
      let read = try await database.all(RecordQuery("T"))
      try #require(
        read.sorted { $0.id.name < $1.id.name } == saved.sorted { $0.id.name < $1.id.name },
        "seed \(seed)")
      for _ in 0..<8 {
        let predicate = samples.predicate(depth: 3)
        let order = samples.order()
        let expected = saved.filter { predicate.matches($0) }
        let query = RecordQuery("T", where: predicate, sortedBy: order)
        let found = try await database.all(query, page: samples.pageSize())
        #expect(
          found.map(\.id.name).sorted() == expected.map(\.id.name).sorted(),
          "seed \(seed), \(predicate)")
        for (one, next) in zip(found, found.dropFirst()) {
          #expect(!order.precedes(next, one), "seed \(seed), \(order)")
        }
      }
    }
  }
}
