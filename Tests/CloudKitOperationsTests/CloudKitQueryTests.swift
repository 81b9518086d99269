import CloudKitOperations
import CompositeOperations
import FakeCloudKit
import Foundation
import RecordOperations
import Testing

@Suite(.enabled(if: CloudKitFixture.hasKeys), .timeLimit(.minutes(10))) struct CloudKitQueryTests {
  @Test(
    arguments: [
      (Field<Int>("a") == 1 || Field<Int>("b") == 1, "alternatives"),
      (Field<String>("a").contains("x"), "search within strings"),
      (!(Field<Int>("a") < 1), "the negation of < for the field a"),
      (!(Field<Int>("a") == 1 && Field<Int>("b") == 1), "a negation other than"),
      (Field<Int>("a").isNull, "the field a with null"),
      (Field<Int>("a") == 1 && !(Field<Int>("b") > 1), "the negation of > for the field b"),
    ])
  func `Y6: a predicate that CloudKit cannot evaluate is refused with its part`(
    predicate: RecordPredicate, part: String
  ) async throws {
    let fixture = try CloudKitFixture.public()
    let outcome = await QueryRecords("Book", in: fixture.database, where: predicate).run()
    let error = try #require(outcome.error)
    #expect("\(error)".contains(part), "\(error)")
    // The database itself, without the check of its capabilities.
    let direct = await #expect(throws: RecordError.self) {
      try await fixture.database.query(
        RecordQuery("Book", where: predicate), after: nil, atMost: 1)
    }
    #expect(direct?.description.contains("CloudKit cannot evaluate") == true, "\(direct as Any)")
    #expect(fixture.server.requests.isEmpty)
  }

  @Test func `Y6: the predicates of CloudKit find the records that they describe`() async throws {
    let fixture = try CloudKitFixture.public(
      options: CloudKitOptions(limits: RecordLimits(items: 200, page: 2)))
    let records = (0..<5).map { number in
      book(
        "\(number)",
        ["n": .integer(Int64(number)), "t": .string("t\(number)"), "l": [.string("w\(number)")]])
    }
    _ = try await SaveRecords(records, in: fixture.database).run().get()
    let cases: [(RecordPredicate, [String])] = [
      (Field<Int>("n") == 2, ["2"]), (Field<Int>("n") != 2, ["0", "1", "3", "4"]),
      (Field<Int>("n") < 2, ["0", "1"]), (Field<Int>("n") <= 1, ["0", "1"]),
      (Field<Int>("n") > 3, ["4"]), (Field<Int>("n") >= 3, ["3", "4"]),
      (Field<Int>("n").isOne(of: [1, 4]), ["1", "4"]),
      (!Field<Int>("n").isOne(of: [1, 4]), ["0", "2", "3"]),
      (Field<String>("t").hasPrefix("t3"), ["3"]),
      (!Field<String>("t").hasPrefix("t3"), ["0", "1", "2", "4"]),
      (Field<[String]>("l").includes("w1"), ["1"]),
      (Field<Int>("n") > 1 && Field<Int>("n") < 4, ["2", "3"]),
      (!(Field<Int>("n") == 0), ["1", "2", "3", "4"]), (!(Field<Int>("n") != 0), ["0"]),
    ]
    for (predicate, names) in cases {
      let found = try await QueryRecords(
        "Book", in: fixture.database, where: predicate, sortedBy: [.ascending("n")]
      ).run().get()
      #expect(found.map(\.id.name) == names, "\(predicate)")
    }
    let pages = try await QueryRecords(
      "Book", in: fixture.database, sortedBy: [.descending("n")], keys: ["n"]
    ).run().get()
    #expect(pages.map(\.id.name) == ["4", "3", "2", "1", "0"])
    #expect(pages.allSatisfy { $0.keys == ["n"] })
  }
}
