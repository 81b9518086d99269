import Foundation
import RecordOperations
import Testing

/// The behavior that all databases have in common.
@Suite struct RecordDatabaseTests {
  private let id = RecordID("Book", "1")

  /// Saves records without a tag, with the current tag, with an old tag, and missing ones.
  @Test(arguments: DatabaseKind.allCases, SavePolicy.allCases)
  func `D1: the policy determines which fields are saved, and under which condition`(
    kind: DatabaseKind, policy: SavePolicy
  ) async throws {
    let database = try kind.make()
    // A new record without a tag: all policies create it.
    let first = try #require(
      try await database.save(
        record("1", ["a": 1, "b": 1, "c": 1]), policy: policy
      ).first)
    #expect(first.tag != nil && first.changedKeys.isEmpty && first.modified != nil)

    // Another writer changes two fields.
    var other = first
    other["b"] = 2
    other["c"] = 2
    let second = try #require(try await database.save(other, policy: .ifUnchanged).first)
    #expect(second.tag != first.tag)

    // A change that is based on the first state.
    var mine = first
    mine["a"] = 3
    mine["b"] = 3
    let reply = try await database.modify(RecordBatch([.save(mine, policy)]))[0]
    let now = try #require(try await database.record(id))
    switch policy {
    case .ifUnchanged:
      guard case .conflict(let existing)? = reply.error?.reason else {
        Issue.record("\(reply)")
        return
      }
      #expect(existing == second)
      #expect(now == second)
    case .changedKeys:
      #expect(now["a"] == 3 && now["b"] == 3 && now["c"] == 2)
      #expect(reply.record == now)
    case .allKeys, .replace:
      #expect(now["a"] == 3 && now["b"] == 3 && now["c"] == 1)
      #expect(reply.record == now)
    }

    // A record with only one of the fields.
    var part = DatabaseRecord(id)
    part["a"] = 4
    let partly = try await database.modify(RecordBatch([.save(part, policy)]))[0]
    let left = try #require(try await database.record(id))
    switch policy {
    case .ifUnchanged: #expect(partly.error?.name == "conflict")
    case .changedKeys, .allKeys: #expect(left["a"] == 4 && left["b"] == now["b"])
    case .replace: #expect(left["a"] == 4 && left["b"] == .null)
    }

    // The record is deleted.
    #expect(try await database.modify(RecordBatch([.delete(id, ifTagged: nil)]))[0].error == nil)
    let gone = try await database.modify(RecordBatch([.save(mine, policy)]))[0]
    if policy == .ifUnchanged {
      #expect(gone.error?.name == "unknownRecord")
      #expect(try await database.record(id) == nil)
    } else {
      #expect(try await database.record(id)?["a"] == 3)
    }
  }

  @Test(arguments: DatabaseKind.allCases)
  func `D1: a delete with an outdated tag is a conflict`(kind: DatabaseKind)
    async throws
  {
    let database = try kind.make()
    let first = try await database.save(record("1", ["a": 1]))[0]
    let second = try await database.save(record("1", ["a": 2]))[0]
    let replies = try await database.modify(RecordBatch([.delete(id, ifTagged: first.tag)]))
    #expect(replies[0].error?.name == "conflict")
    #expect(try await database.record(id) == second)
    let done = try await database.modify(RecordBatch([.delete(id, ifTagged: second.tag)]))
    #expect(done[0].error == nil)
    let again = try await database.modify(RecordBatch([.delete(id, ifTagged: second.tag)]))
    #expect(again[0].error?.name == "unknownRecord")
  }

  @Test(arguments: DatabaseKind.allCases, [false, true])
  func `D2: a batch fails record by record, or as a whole if it is atomic`(
    kind: DatabaseKind, isAtomic: Bool
  ) async throws {
    let database = try kind.make()
    try await database.save(record("2", ["a": 0]))
    let batch = RecordBatch(
      [
        .save(record("1", ["a": 1]), .ifUnchanged), .save(record("2", ["a": 1]), .ifUnchanged),
        .save(record("3", ["a": 1]), .ifUnchanged),
        .delete(RecordID("Book", "4"), ifTagged: nil),
      ], isAtomic: isAtomic)
    let names = try await database.modify(batch).map { $0.error?.name }
    let there = try await database.lookup(batch.changes.map(\.id), keys: nil)
    #expect(there[RecordID("Book", "2")]?["a"] == 0)
    if isAtomic {
      #expect(names == ["batchFailed", "conflict", "batchFailed", "batchFailed"])
      #expect(there.count == 1)
    } else {
      #expect(names == [nil, "conflict", nil, "unknownRecord"])
      #expect(there.count == 3)
    }
  }

  @Test(arguments: DatabaseKind.complete)
  func `D8: values are read as they were saved`(kind: DatabaseKind) async throws {
    let database = try kind.make()
    let values: [String: FieldValue] = [
      "integer": .integer(.min), "largest": .integer(.max), "double": .double(0.1),
      "whole": .double(3), "tiny": .double(.leastNonzeroMagnitude), "endless": .double(.infinity),
      "string": "a\0b\u{e9}e\u{301}\"'\n", "empty": "", "bytes": .bytes([0, 255, 10]),
      "nothing": .bytes([]), "null": .null, "date": .date(Date(timeIntervalSince1970: -1.5)),
      "year1": .date(Date(timeIntervalSince1970: -62_135_596_800)),
      "list": [1, 2.5, 3.0, "x", .bytes([1]), .null, .date(Date(timeIntervalSince1970: 0.001))],
      "nobody": [], "link": .reference(RecordReference(RecordID("Author", "a/b"))),
      "links": [.reference(RecordReference(RecordID("Author", "x")))],
      "select": "'; DROP TABLE Book; --", "q\"uo'te": 1,
    ]
    try await database.save(record("1", values))
    let read = try #require(try await database.record(id))
    for (key, value) in values { #expect(read[key] == value, "\(key)") }
  }

  @Test(
    arguments: DatabaseKind.allCases,
    [
      .double(.nan), .date(.distantFuture.addingTimeInterval(1e12)), [[1]],
      [.reference(RecordReference(RecordID("Author", "x"), onDelete: .cascade))],
    ] as [FieldValue])
  func `D8: a value that cannot be stored is refused with its field`(
    kind: DatabaseKind, value: FieldValue
  ) async throws {
    let database = try kind.make()
    let replies = try await database.modify(
      RecordBatch([.save(record("1", ["odd": value]), .allKeys)]))
    #expect(replies[0].error?.name == "invalid")
    let description = replies[0].error?.description ?? ""
    #expect(description.contains("odd"))
    #expect(try await database.record(id) == nil)
  }

  @Test(arguments: DatabaseKind.allCases, RecordReference.DeleteRule.allCases)
  func `D1: the delete rule of a reference determines what happens to its record`(
    kind: DatabaseKind, rule: RecordReference.DeleteRule
  ) async throws {
    let database = try kind.make()
    let author = RecordID("Author", "Austen")
    let book = record("1", ["author": .reference(RecordReference(author, onDelete: rule))])
    let early = try await database.modify(RecordBatch([.save(book, .allKeys)]))[0]
    if kind == .cloudKit, rule == .nullify {
      #expect(early.error?.name == "invalid")
      return
    }
    #expect(early.error?.name == (rule == .keep ? nil : "referenceViolated"))
    let tag = try await database.save(record("Austen", type: "Author", ["name": "Jane"]), book)[1]
      .tag
    let reply = try await database.modify(RecordBatch([.delete(author, ifTagged: nil)]))[0]
    #expect(reply.error?.name == (rule == .deny ? "referenceViolated" : nil))
    let left = try await database.record(id)
    switch rule {
    case .keep, .deny: #expect(left?["author"] == book["author"] && left?.tag == tag)
    case .nullify: #expect(left?["author"] == .null && left?.tag != tag)
    case .cascade: #expect(left == nil)
    }
    #expect(try await database.record(author) == nil || rule == .deny)
  }

  /// The record that denies a deletion can be among the deleted records.
  @Test(arguments: DatabaseKind.allCases)
  func `D1: a record that is deleted as well does not deny the deletion`(kind: DatabaseKind)
    async throws
  {
    let database = try kind.make()
    func link(_ name: String, _ rule: RecordReference.DeleteRule) -> FieldValue {
      .reference(RecordReference(RecordID("Book", name), onDelete: rule))
    }
    try await database.save(record("first"))
    try await database.save(record("second", ["next": link("first", .cascade)]))
    try await database.save(
      record("third", ["next": link("second", .cascade), "denied": link("first", .deny)]))
    try await database.save(record("itself"))
    try await database.save(record("itself", ["denied": link("itself", .deny)]))
    for name in ["first", "itself"] {
      let reply = try await database.modify(
        RecordBatch([.delete(RecordID("Book", name), ifTagged: nil)]))[0]
      #expect(reply.error == nil, "\(name): \(reply)")
    }
    #expect(try await database.query(RecordQuery("Book"), after: nil, atMost: 9).records.isEmpty)
  }

  @Test(arguments: DatabaseKind.complete)
  func `a deletion denied further down a cascade names the record that denies it`(
    kind: DatabaseKind
  ) async throws {
    let database = try kind.make()
    func link(_ name: String, _ rule: RecordReference.DeleteRule) -> FieldValue {
      .reference(RecordReference(RecordID("Book", name), onDelete: rule))
    }
    try await database.save(record("first"))
    for (name, next) in [("second", "first"), ("third", "second")] {
      try await database.save(record(name, ["next": link(next, .cascade)]))
    }
    try await database.save(record("who", ["denied": link("third", .deny)]))
    let reply = try await database.modify(
      RecordBatch([.delete(RecordID("Book", "first"), ifTagged: nil)]))[0]
    guard case .referenceViolated(let other)? = reply.error?.reason else {
      Issue.record("\(reply)")
      return
    }
    #expect(other.name == "who")
  }

  @Test(arguments: DatabaseKind.allCases)
  func `only the requested keys are returned`(kind: DatabaseKind) async throws {
    let database = try kind.make()
    try await database.save(record("1", ["a": 1, "b": 2]))
    let found = try await database.lookup([id, RecordID("Book", "2")], keys: ["b"])
    #expect(found.count == 1)
    #expect(found[id]?.keys == ["b"])
    let page = try await database.query(RecordQuery("Book", keys: ["a"]), after: nil, atMost: 10)
    #expect(page.records.map(\.keys) == [["a"]])
    #expect(page.records[0].tag == found[id]?.tag)
  }

  @Test(arguments: DatabaseKind.allCases)
  func `D6: changes are returned page by page, each record once, in order`(kind: DatabaseKind)
    async throws
  {
    let database = try kind.make(limits: RecordLimits(page: 2))
    for name in ["1", "2", "3", "4", "5"] { try await database.save(record(name, ["a": 0])) }
    let start = try await allChanges(of: database, since: nil)
    #expect(start.changed.map(\.id.name) == ["1", "2", "3", "4", "5"])
    try await database.save(record("2", ["a": 1]))
    try await database.save(record("6", ["a": 1]))
    try await database.save(record("2", ["a": 2]))
    let gone = ["1", "6"].map { RecordChange.delete(RecordID("Book", $0), ifTagged: nil) }
    _ = try await database.modify(RecordBatch(gone))
    let next = try await allChanges(of: database, since: start.token)
    #expect(next.changed.map(\.id.name) == ["2"])
    #expect(next.changed.first?["a"] == 2)
    #expect(Set(next.deleted.map(\.name)) == ["1", "6"])
    let none = try await database.changes(since: next.token, in: .default)
    #expect(none.changed.isEmpty && none.deleted.isEmpty && !none.hasMore)
    #expect(none.token == next.token)
  }

  private func allChanges(
    of database: any RecordDatabase, since token: ChangeToken?
  ) async throws -> ChangePage {
    var all = ChangePage(changed: [], deleted: [], token: ChangeToken(""), hasMore: false)
    var token = token
    while true {
      let page = try await database.changes(since: token, in: .default)
      #expect(page.changed.count + page.deleted.count <= 2)
      all.changed += page.changed
      all.deleted += page.deleted
      all.token = page.token
      token = page.token
      if !page.hasMore { return all }
    }
  }

  @Test(arguments: DatabaseKind.allCases, ["", "x", "x 1 1", "0"])
  func `D6: a token that the database did not issue is expired`(kind: DatabaseKind, text: String)
    async throws
  {
    let database = try kind.make()
    try await database.save(record("1"))
    let error = await #expect(throws: RecordError.self) {
      try await database.changes(since: ChangeToken(text), in: .default)
    }
    #expect(error?.name == "tokenExpired")
  }
}
