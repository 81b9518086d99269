import CompositeOperations
import Foundation
import RecordOperations
import Testing

/// Uses the memory database, which only evaluates the predicate.
@Suite struct RecordPredicateTests {
  private static let day = Date(timeIntervalSince1970: 1_000)
  private static let austen = RecordReference(RecordID("Author", "Austen"))

  private static let records: [(String, FieldValue)] = [
    ("null", .null), ("one", 1), ("two", 2), ("two and a half", 2.5), ("large", .integer(1 << 53)),
    ("larger", .integer(1 << 53 + 1)), ("text", "two"), ("composed", "\u{e9}"),
    ("decomposed", "e\u{301}"), ("bytes", .bytes([2])), ("day", .date(day)),
    ("link", .reference(austen)), ("list", [1, "x", nil]),
  ]

  private func names(_ predicate: RecordPredicate) async throws -> [String] {
    let database = MemoryRecordDatabase()
    for (name, value) in Self.records {
      try await database.save(record(name, type: "Thing", ["a": value]))
    }
    let found = try await QueryRecords("Thing", in: database, where: predicate).run().get()
    let names = Set(found.map(\.id.name))
    return Self.records.map(\.0).filter(names.contains)
  }

  private static let all = records.map(\.0)

  @Test(
    arguments: [
      (Field("a") == 2, ["two"]), (Field("a") == 2.0, ["two"]),
      (Field("a") == 2.5, ["two and a half"]),
      (Field("a") != 2, all.filter { $0 != "two" }),
      (Field<Int>("a") == nil, ["null"]), (Field<Int>("a") != nil, all.filter { $0 != "null" }),
      (Field<Int>("a").isNull, ["null"]),
      (Field("a") < 2, ["one"]), (Field("a") <= 2, ["one", "two"]),
      (Field("a") > 2, ["two and a half", "large", "larger"]),
      (Field("a") >= 2, ["two", "two and a half", "large", "larger"]),
      (Field("a") > 9_007_199_254_740_992.0, ["larger"]),
      (Field("a") == 9_007_199_254_740_992.0, ["large"]),
      (Field("a") < 1e300, ["one", "two", "two and a half", "large", "larger"]),
      (Field("a") > -1e300, ["one", "two", "two and a half", "large", "larger"]),
      (!(Field("a") < 2), all.filter { $0 != "one" }),
      (Field("a") == "two", ["text"]), (Field("a") == "\u{e9}", ["composed"]),
      (Field("a") < "two", ["decomposed"]), (Field("a") > "two", ["composed"]),
      (Field("a").hasPrefix("e"), ["decomposed"]),
      (Field("a").hasPrefix(""), ["text", "composed", "decomposed"]),
      (Field("a").contains("w"), ["text"]), (Field("a").contains("\u{301}"), ["decomposed"]),
      (Field("a") == Data([2]), ["bytes"]), (Field("a") == day, ["day"]),
      (Field("a") > day.addingTimeInterval(-0.001), ["day"]), (Field("a") == austen, ["link"]),
      (Field<[Int]>("a").includes(1), ["list"]), (Field<[String]>("a").includes("y"), []),
      (Field("a").isOne(of: [1, 2]), ["one", "two"]), (Field("a").isOne(of: [Int]()), []),
      (Field("a") == 1 || Field("a") == "two" || Field("a") == 2, ["one", "two", "text"]),
      (Field("a") >= 1 && Field("a") < 2.5 && Field("a") != 1, ["two"]),
      (.all([]), all), (.any([]), []), (!(.any([])), all), (Field("b") == 1, []),
      (Field<Int>("b").isNull, all),
    ] as [(RecordPredicate, [String])])
  func `D5: values are compared only with values of their kind`(
    predicate: RecordPredicate, expected: [String]
  ) async throws {
    #expect(try await names(predicate) == expected)
  }

  @Test(
    arguments: [
      Field("a") == Double.nan, Field("a") < Double.nan, Field("a").isOne(of: [1, .nan]),
      Field<[Double]>("a").includes(.nan), Field("a").isOne(of: [[1]]), Field("a") == [1],
      Field<Decimal>("a") < 10, Field<Decimal?>("a") >= 10, !(Field("b") == 1 || Field("a") == [2]),
    ] as [RecordPredicate], DatabaseKind.allCases)
  func `D5: a predicate with a value that cannot be compared is refused`(
    predicate: RecordPredicate, kind: DatabaseKind
  ) async throws {
    let database = try kind.make()
    try await database.save(record("1", ["a": 1, "b": 1]))
    let error = await QueryRecords("Book", in: database, where: predicate).run().error
    let cause = (error as? RecordQueryError)?.cause as? RecordError
    #expect(cause?.name == "invalid", "\(error as Any)")
    #expect("\(cause as Any)".contains("the field a"))
  }

  @Test(arguments: DatabaseKind.complete, [40, 41, 5_000])
  func `a predicate can be nested 40 levels deep, and no deeper`(
    kind: DatabaseKind, depth: Int
  ) async throws {
    let database = try kind.make()
    try await database.save(record("1", ["a": 1]))
    var nots = Field("a") == 2
    var mixed = Field("a") == 1
    for level in 0..<depth {
      nots = !nots
      mixed = level % 2 == 0 ? .all([mixed, Field("a") == 1]) : .any([mixed, Field("a") == 2])
    }
    for (predicate, count) in [(nots, depth % 2), (mixed, 1)] {
      let outcome = await QueryRecords("Book", in: database, where: predicate).run()
      if depth <= 40 {
        #expect(try outcome.get().count == count)
      } else {
        #expect("\(outcome.error as Any)".contains("nested more than 40 levels deep"))
      }
    }
  }

  @Test func `NaN is sorted after all numbers and equals none of them`() {
    let nan = FieldValue.double(.nan)
    for number in [1, 1.5, .double(.infinity), .integer(.max)] as [FieldValue] {
      #expect(number.precedes(nan) && !nan.precedes(number))
      // A record can contain NaN before it is saved, but no database stores it.
      #expect(!(Field("a") == number).matches(record("1", ["a": nan])))
    }
    #expect(!nan.precedes(nan))
  }

  @Test(arguments: DatabaseKind.allCases)
  func `a page size below 1 is refused`(kind: DatabaseKind) async throws {
    let database = try kind.make()
    try await database.save(record("1", ["a": 1]))
    for count in [0, -1] {
      await #expect(throws: RecordError.self) {
        try await database.query(RecordQuery("Book"), after: nil, atMost: count)
      }
    }
  }

  @Test func `records are sorted by several fields, with null first`() async throws {
    let database = MemoryRecordDatabase(limits: RecordLimits(page: 3))
    for (name, value) in Self.records {
      try await database.save(
        record(name, type: "Thing", ["a": value, "b": .integer(Int64(name.utf8.count % 2))]))
    }
    let up = try await QueryRecords("Thing", in: database, sortedBy: [Field<Int>("a").ascending])
      .run().get().map(\.id.name)
    #expect(
      up == [
        "null", "one", "two", "two and a half", "large", "larger", "decomposed", "text",
        "composed", "day", "link", "list", "bytes",
      ])
    let down = try await QueryRecords("Thing", in: database, sortedBy: [Field<Int>("a").descending])
      .run().get().map(\.id.name)
    #expect(down == up.reversed())
    let both = try await QueryRecords(
      "Thing", in: database, sortedBy: [.descending("b"), .ascending("a")]
    ).run().get().map(\.id.name)
    #expect(both == up.filter { $0.utf8.count % 2 == 1 } + up.filter { $0.utf8.count % 2 == 0 })
  }
}
