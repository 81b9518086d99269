import CloudKitOperations
import CompositeOperations
import FakeCloudKit
import Foundation
import RecordOperations
import TestSupport
import Testing

@Suite(.enabled(if: CloudKitFixture.hasKeys), .timeLimit(.minutes(10))) struct CloudKitValueTests {
  private let id = RecordID("Book", "1")

  @Test func `Y5: values are read as they were saved`() async throws {
    let fixture = try CloudKitFixture.public()
    let values: [String: FieldValue] = [
      "integer": .integer(.min), "largest": .integer(.max), "double": 0.1, "whole": .double(3),
      "tiny": .double(.leastNonzeroMagnitude), "string": "a\u{e9}e\u{301}\"'\n🎉", "empty": "",
      "bytes": .bytes([0, 255, 10]), "nothing": .bytes([]),
      "date": .date(Date(timeIntervalSince1970: -1.5)),
      "year1": .date(Date(timeIntervalSince1970: -62_135_596_800)), "texts": ["a", "b"],
      "numbers": [1, 2], "doubles": [.double(1), .double(0.5)], "empties": [],
      "dates": [.date(Date(timeIntervalSince1970: 0.001))], "blobs": [.bytes([1]), .bytes([])],
    ]
    let saved = try await fixture.database.save(book("1", values))
    let read = try #require(try await fixture.database.lookup([id], keys: nil)[id])
    #expect(saved[0].record == read)
    for (key, value) in values { #expect(read[key] == value, "\(key)") }
    #expect(read.keys == values.keys.sorted())
    var changed = read
    changed["string"] = .null
    let without = try await fixture.database.save(changed)[0].record
    #expect(without?["string"] == .null && without?["integer"] == .integer(.min))
  }

  @Test(
    arguments: [
      ("a", .double(.infinity), "infinite"), ("a", .double(.nan), "NaN"),
      ("a", [1, "x"], "several types"), ("a", [1, nil], "null"), ("a", [[1]], "list in a list"),
      ("a b", 1, "has a name that CloudKit does not accept"), ("", 1, "has a name"),
      ("é", 1, "has a name"), ("_a", 1, "has a name"),
      (
        "a", .reference(RecordReference(RecordID("Author", "x"), onDelete: .nullify)), ".nullify"
      ),
      ("a", .reference(RecordReference(RecordID("Author", "é"))), "ASCII"),
    ] as [(String, FieldValue, String)])
  func `Y5: a value that CloudKit cannot store is refused with its field`(
    key: String, value: FieldValue, problem: String
  ) async throws {
    let fixture = try CloudKitFixture.public()
    let reply = try await fixture.database.save(book("1", [key: value]))[0]
    let error = try #require(reply.error)
    #expect(error.description.hasPrefix("Book/1: the field \(key) "), "\(error)")
    #expect(error.description.contains(problem), "\(error)")
    #expect(fixture.server.requests.isEmpty)
  }

  @Test func `Y5: a reference to a record in another zone is refused`() async throws {
    let fixture = try await CloudKitFixture.private()
    let second = RecordZone("Second")
    try await fixture.database.createZone(second)
    let start = fixture.server.requests.count
    func link(_ zone: RecordZone) -> FieldValue {
      .reference(RecordReference(RecordID("Author", "jane", in: zone)))
    }
    func problem(_ target: String, _ own: String) -> String {
      "the field author has a reference to a record in the zone \"\(target)\", and this record is "
        + "in the zone \"\(own)\": in CloudKit, both must be in the same zone"
    }
    var other = DatabaseRecord("Book", "1", in: second)
    // The zone of a reference is not that of its record by itself.
    other["author"] = [link(second), link(.default)]
    let replies = try await fixture.database.save(
      book("1", ["author": link(second)]), other,
      book("2", ["author": link(RecordZone("_defaultZone"))]))
    #expect(
      replies.compactMap { $0.error.map { "\($0)" } } == [
        "Book/1: \(problem("Second", "Library"))", "Second/Book/1: \(problem("Library", "Second"))",
        "Book/2: \(problem("_defaultZone", "Library"))",
      ])
    #expect(fixture.server.requests.count == start)
    // Both names of the zone in the options.
    other["author"] = [link(second)]
    let saved = try await fixture.database.save(
      book("1", ["author": [link(RecordZone(CloudKitFixture.zone))]]), other)
    #expect(saved.allSatisfy { $0.record != nil }, "\(saved)")
  }

  @Test(
    arguments: [
      RecordID("Book", ""), RecordID("Book", "_1"), RecordID("Book", "é"),
      RecordID("Book", String(repeating: "x", count: 256)), RecordID("My Book", "1"),
      RecordID("", "1"),
    ])
  func `Y5: an ID that CloudKit does not accept is refused`(
    id: RecordID
  ) async throws {
    let fixture = try CloudKitFixture.public()
    let reply = try await fixture.database.save(DatabaseRecord(id), policy: .allKeys)[0]
    guard case .invalid? = reply.error?.reason else {
      Issue.record("\(reply)")
      return
    }
    #expect(fixture.server.requests.isEmpty)
    #expect(try await fixture.database.lookup([id], keys: nil).isEmpty)
  }

  @Test(arguments: ["LOCATION", "ASSETID"])
  func `Y5: a field of a type that is not supported is reported, and can be left out`(
    type: String
  ) async throws {
    let fixture = try CloudKitFixture.public()
    fixture.server.save(
      "1", type: "Book",
      fields: ["title": .string("Emma"), "place": CloudField(type: type, value: ["x": 1])])
    let error = await #expect(throws: RecordError.self) {
      try await fixture.database.lookup([id], keys: nil)
    }
    #expect(error?.description.contains("the field place has the type \(type)") == true)
    let found = try await fixture.database.lookup([id], keys: ["title"])
    #expect(found[id]?["title"] == "Emma")
  }

  @Test func `Y5: a record with a field of a type that is not supported can be saved`() async throws
  {
    let fixture = try CloudKitFixture.public()
    let place = CloudField(type: "LOCATION", value: ["latitude": 1, "longitude": 2])
    fixture.server.save("1", type: "Book", fields: ["title": .string("Emma"), "place": place])
    var found = try #require(try await fixture.database.lookup([id], keys: ["title"])[id])
    found["title"] = "Persuasion"
    let saved = try await SaveRecords([found], in: fixture.database).run().get()
    #expect(saved[0]["title"] == "Persuasion" && saved[0].tag != found.tag)
    #expect(fixture.server.records()["1"]?.fields["place"] == place)
  }

  @Test func `Y5: changes of records of types that are not listed are left out`() async throws {
    let fixture = try await CloudKitFixture.private(types: ["Book"])
    let image = CloudField(type: "ASSETID", value: ["size": 1])
    for (name, type) in [("1", "Book"), ("2", "Photo")] {
      fixture.server.save(
        name, type: type, fields: type == "Photo" ? ["image": image] : ["title": .string("Emma")],
        in: "private", zone: CloudKitFixture.zone)
    }
    let changes = try await FetchChanges(in: fixture.database).run().get()
    #expect(changes.changed.map(\.id) == [RecordID("Book", "1")])
    #expect(changes.deleted.isEmpty)
    let folder = try TemporaryFolder()
    let local = SQLiteRecordDatabase(folder.url.appendingPathComponent("local.sqlite").path)
    let mirror = RecordMirror(of: ["Book", "Photo"], in: local, with: fixture.database)
    let error = await mirror.sync.run().error as? RecordError
    #expect(error?.description.contains("do not have Photo") == true, "\(error as Any)")
  }
}
