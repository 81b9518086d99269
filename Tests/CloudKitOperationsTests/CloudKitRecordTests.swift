import CloudKitOperations
import CompositeOperations
import FakeCloudKit
import Foundation
import RecordOperations
import Testing

@Suite(.enabled(if: CloudKitFixture.hasKeys), .timeLimit(.minutes(10))) struct CloudKitRecordTests {
  private let id = RecordID("Book", "1")

  @Test func `Y1: with a server key, changes are refused before a request is sent`() async throws {
    let fixture = try CloudKitFixture.public(options: CloudKitOptions(zone: "Library"))
    #expect(fixture.database.capabilities == [.sorting, .negation, .listSearch])
    let outcome = await FetchChanges(since: nil, in: fixture.database).run()
    let error = try #require(outcome.error as? RecordError)
    #expect(error.description.contains("cannot report changes"), "\(error)")
    let direct = await #expect(throws: RecordError.self) {
      try await fixture.database.changes(since: nil, in: .default)
    }
    #expect(direct?.description.contains("only in a zone of a private database") == true)
    let atomic = await SaveRecords([book("1")], in: fixture.database, atomic: true).run()
    #expect("\(try #require(atomic.error))".contains("all records of a batch or none"))
    #expect(fixture.server.requests.isEmpty)
    let untyped = try await CloudKitFixture.private(types: [])
    #expect(!untyped.database.capabilities.contains(.changes))
    #expect(untyped.database.capabilities.contains(.atomicBatches))
  }

  @Test func `Y1: in a created zone of a private database, changes and atomic batches work`()
    async throws
  {
    let fixture = try await CloudKitFixture.private()
    let database = fixture.database
    #expect(database.capabilities.isSuperset(of: [.changes, .atomicBatches]))
    #expect(try await database.zones().contains(.default))
    _ = try await SaveRecords([book("1"), book("2")], in: database, atomic: true).run().get()
    let first = try await database.changes(since: nil, in: .default)
    #expect(first.changed.map(\.id.name) == ["1", "2"])
    _ = try await database.modify(RecordBatch([.delete(id, ifTagged: nil)]))
    let next = try await database.changes(since: first.token, in: .default)
    // CloudKit does not report the type.
    #expect(Set(next.deleted) == [id, RecordID("Author", "1")])
    fixture.server.forgetChanges()
    let error = await #expect(throws: RecordError.self) {
      try await database.changes(since: next.token, in: .default)
    }
    guard case .tokenExpired? = error?.reason else {
      Issue.record("\(error as Any)")
      return
    }
  }

  /// The fault of the zone, with status 200, or of the whole request.
  @Test(arguments: [200, 400])
  func `Y1: a request for changes that is rejected without a token too is no expired token`(
    status: Int
  ) async throws {
    let fixture = try await CloudKitFixture.private()
    let token = try await fixture.database.changes(since: nil, in: .default).token
    let failure = #""serverErrorCode": "BAD_REQUEST", "reason": "no such thing""#
    fixture.server.inject { _ in
      .status(status, body: status == 200 ? #"{"zones": [{\#(failure)}]}"# : "{\(failure)}")
    }
    let error = await #expect(throws: RecordError.self) {
      try await fixture.database.changes(since: token, in: .default)
    }
    guard case .invalid(let text)? = error?.reason, text.contains("no such thing") else {
      Issue.record("\(error as Any)")
      return
    }
    // Only the request with the token is rejected.
    fixture.server.inject { request in
      guard request.json?["zones"] != nil, "\(request.json as Any)".contains("syncToken") else {
        return nil
      }
      return .status(status, body: status == 200 ? #"{"zones": [{\#(failure)}]}"# : "{\(failure)}")
    }
    let expired = await #expect(throws: RecordError.self) {
      try await fixture.database.changes(since: token, in: .default)
    }
    guard case .tokenExpired? = expired?.reason else {
      Issue.record("\(expired as Any)")
      return
    }
    // An error that may be temporary says nothing about the token.
    fixture.server.inject { request in
      "\(request.json as Any)".contains("syncToken")
        ? .code("BAD_REQUEST", status: 400) : .unavailable(retryAfter: nil)
    }
    let unclear = await #expect(throws: RecordError.self) {
      try await fixture.database.changes(since: token, in: .default)
    }
    #expect(unclear?.isRetriable == true)
  }

  @Test(arguments: [false, true])
  func `Y2: an atomic batch that fails is not made`(isRejectedAsAWhole: Bool) async throws {
    var options = FakeCloudKit.Options()
    options.rejectsAtomicRequests = isRejectedAsAWhole
    let fixture = try await CloudKitFixture.private(server: options)
    try await fixture.database.save(book("2", ["a": 1]))
    let replies = try await fixture.database.modify(
      RecordBatch(
        [.save(book("1"), .ifUnchanged), .save(book("2", ["a": 2]), .ifUnchanged)],
        isAtomic: true))
    guard case .batchFailed? = replies[0].error?.reason else {
      Issue.record("\(replies)")
      return
    }
    if isRejectedAsAWhole {
      guard case .batchFailed? = replies[1].error?.reason else {
        Issue.record("\(replies)")
        return
      }
    } else {
      guard case .conflict(let record)? = replies[1].error?.reason else {
        Issue.record("\(replies)")
        return
      }
      #expect(record["a"] == 1)
    }
    let stored = fixture.server.records(in: "private", zone: CloudKitFixture.zone)
    #expect(Set(stored.keys) == ["2"])
  }

  @Test func `Y2: a conflict carries the record, which is looked up`() async throws {
    let fixture = try CloudKitFixture.public()
    let database = fixture.database
    let first = try #require(try await database.save(book("1", ["a": 1]))[0].record)
    #expect(first["a"] == 1 && first.tag != nil && first.modified != nil)
    fixture.server.save("1", type: "Book", fields: ["a": .int64(2)])
    var mine = first
    mine["a"] = 3
    for attempt in [mine, book("1", ["a": 4])] {
      let reply = try await database.save(attempt)[0]
      guard case .conflict(let record)? = reply.error?.reason else {
        Issue.record("\(reply)")
        return
      }
      #expect(record["a"] == 2 && record.tag != first.tag)
    }
    #expect(fixture.requests(to: "records/lookup").count == 2)
    // One batch needs one lookup, however many conflicts it has.
    _ = try await database.save(mine, book("2"), book("2b"))
    _ = try await database.save(mine, book("2"), book("2b"))
    #expect(fixture.requests(to: "records/lookup").count == 4)
  }

  @Test func `Y2: a conflict whose record cannot be read is retried`() async throws {
    let fixture = try CloudKitFixture.public()
    try await fixture.database.save(book("1", ["a": 1]))
    fixture.server.inject { $0.path == "records/lookup" ? .unavailable(retryAfter: nil) : nil }
    let replies = try await fixture.database.save(book("1"), book("2"))
    #expect(replies[0].error?.isRetriable == true)
    // The other change was made, and is not reported as failed.
    #expect(replies[1].record != nil)
  }

  @Test func `Y2: a conflict whose record cannot be read does not hide other conflicts`()
    async throws
  {
    let fixture = try CloudKitFixture.public()
    try await fixture.database.save(book("1"), book("2", ["a": 1]))
    fixture.server.inject { request in
      request.path == "records/lookup" ? .failing(record: "1", code: "ACCESS_DENIED") : nil
    }
    let replies = try await fixture.database.save(book("1"), book("2"))
    #expect(
      replies[0].error?.description.contains("and the record cannot be read") == true, "\(replies)")
    guard case .conflict(let record)? = replies[1].error?.reason else {
      Issue.record("\(replies)")
      return
    }
    #expect(record["a"] == 1)
  }

  @Test func `Y2: a record that cannot be read fails only its own deletion`() async throws {
    let fixture = try CloudKitFixture.public()
    try await fixture.database.save(book("1"), book("2"), book("3"))
    fixture.server.inject { _ in .failing(record: "2", code: "ACCESS_DENIED") }
    let ids = ["1", "2", "3"].map { RecordID("Book", $0) }
    let outcome = await DeleteRecords(ids, in: fixture.database).run()
    let error = try #require(outcome.error as? RecordBatchError)
    #expect(error.deleted == [ids[0], ids[2]])
    #expect(error.failures.map(\.record) == [ids[1]])
    guard case .notPermitted? = error[ids[1]]?.reason else {
      Issue.record("\(error)")
      return
    }
    #expect(fixture.server.records().keys.sorted() == ["2"])
    let read = await #expect(throws: RecordError.self) {
      try await fixture.database.lookup(ids, keys: nil)
    }
    guard case .notPermitted? = read?.reason else {
      Issue.record("\(read as Any)")
      return
    }
  }

  @Test func `Y2: a record that cannot be read prevents an atomic deletion`() async throws {
    let fixture = try await CloudKitFixture.private()
    try await fixture.database.save(book("1"), book("2"))
    fixture.server.inject { _ in .failing(record: "2", code: "ACCESS_DENIED") }
    let replies = try await fixture.database.modify(
      RecordBatch(["1", "2"].map { .delete(RecordID("Book", $0), ifTagged: nil) }, isAtomic: true))
    guard case .batchFailed? = replies[0].error?.reason,
      case .notPermitted? = replies[1].error?.reason
    else {
      Issue.record("\(replies)")
      return
    }
    #expect(fixture.server.records(in: "private", zone: CloudKitFixture.zone).count == 2)
  }

  @Test func `Y2: the delay that the server asks for is kept`() async throws {
    let fixture = try CloudKitFixture.public()
    fixture.server.inject { $0.number == 1 ? .throttled(retryAfter: 7) : nil }
    let error = await #expect(throws: RecordError.self) {
      try await fixture.database.query(RecordQuery("Book"), after: nil, atMost: 1)
    }
    #expect(error?.isRetriable == true)
    #expect(error?.retryDelay == .seconds(7))
    fixture.server.inject { _ in .failing(record: "1", code: "ZONE_BUSY") }
    let reply = try await fixture.database.save(book("1"))[0]
    #expect(reply.error?.isRetriable == true)
    #expect(reply.error?.retryDelay == .seconds(1))
  }

  @Test(
    arguments: [
      ("ACCESS_DENIED", 403, "not permitted"), ("QUOTA_EXCEEDED", 413, "QUOTA_EXCEEDED"),
      ("BAD_REQUEST", 400, "BAD_REQUEST"), ("INTERNAL_ERROR", 500, "database unavailable"),
      ("TRY_AGAIN_LATER", 503, "database unavailable"), ("ZONE_NOT_FOUND", 404, "ZONE_NOT_FOUND"),
      ("SOMETHING_NEW", 418, "SOMETHING_NEW"),
    ])
  func `Y2: the code of a failed request determines the error`(
    code: String, status: Int, text: String
  ) async throws {
    let fixture = try CloudKitFixture.public()
    fixture.server.inject { _ in .code(code, status: status) }
    let error = await #expect(throws: RecordError.self) {
      try await fixture.database.query(RecordQuery("Book"), after: nil, atMost: 1)
    }
    #expect(error?.description.contains(text) == true, "\(error as Any)")
  }

  @Test func `Y3: a create whose reply was lost is found by its name`() async throws {
    let fixture = try CloudKitFixture.public()
    fixture.server.inject { $0.number == 1 ? .losingReply : nil }
    let saved = try await SaveRecords([book("1", ["a": 1])], in: fixture.database).run().get()
    #expect(saved[0]["a"] == 1)
    #expect(fixture.server.requests.map(\.path) == ["records/modify", "records/lookup"])
  }

  @Test func `Y3: a create whose request was lost is sent again`() async throws {
    let fixture = try CloudKitFixture.public()
    fixture.server.inject { $0.number == 1 ? .losingRequest : nil }
    let saved = try await SaveRecords([book("1", ["a": 1])], in: fixture.database).run().get()
    #expect(saved[0]["a"] == 1)
    #expect(fixture.requests(to: "records/modify").count == 2)
  }

  /// A proxy, or the page of a network that one must log in to.
  @Test(arguments: [200, 502, 504])
  func `Y3: a reply that is not from CloudKit may hide a change`(status: Int) async throws {
    let fixture = try CloudKitFixture.public()
    fixture.server.inject { _ in .status(status, body: "<html>log in</html>") }
    let error = await #expect(throws: RecordError.self) {
      try await fixture.database.save(book("1"))
    }
    guard case .replyLost? = error?.reason else {
      Issue.record("\(error as Any)")
      return
    }
    let reading = await #expect(throws: RecordError.self) {
      try await fixture.database.lookup([id], keys: nil)
    }
    #expect(reading?.isRetriable == (status != 200))
  }

  @Test func `the types of records that references refer to are looked up`() async throws {
    let fixture = try CloudKitFixture.public()
    func link(_ name: String, _ rule: RecordReference.DeleteRule) -> FieldValue {
      .reference(RecordReference(RecordID("Author", name), onDelete: rule))
    }
    let authors = ["jane", "anne"].map { DatabaseRecord("Author", $0) }
    let book = book(
      "1",
      [
        "author": link("jane", .cascade), "editor": link("anne", .deny),
        "others": [link("jane", .keep), link("missing", .keep)],
      ])
    let saved = try await SaveRecords(authors + [book], in: fixture.database).run().get()[2]
    #expect(saved["author"] == book["author"] && saved["others"] == book["others"])
    #expect(fixture.requests(to: "records/lookup").isEmpty)
    let read = try #require(try await fixture.database.lookup([id], keys: nil)[id])
    #expect(fixture.requests(to: "records/lookup").count == 2)
    #expect(read["author"] == book["author"] && read["editor"] == book["editor"])
    // A record that does not exist has no type.
    let untyped = FieldValue.reference(RecordReference(RecordID("", "missing"), onDelete: .keep))
    #expect(read["others"] == [link("jane", .keep), untyped])
    var options = fixture.database.options
    options.referenceTypes = [
      "Book.author": "Author", "Book.editor": "Author", "Book.others": "Author",
    ]
    let listed = CloudKitRecordDatabase(
      CloudKitFixture.container, .development,
      as: .serverKey(
        try CloudKitServerKey(id: CloudKitFixture.keyID, pem: CloudKitFixture.privateKey)),
      options)
    #expect(try await listed.lookup([id], keys: nil)[id] == saved)
    #expect(fixture.requests(to: "records/lookup").count == 3)
  }

  @Test func `Y3: a record whose save ended in an internal error is looked up`() async throws {
    let fixture = try CloudKitFixture.public()
    let server = fixture.server
    // The record is stored although its operation reports an error.
    server.inject { request in
      guard request.number == 1 else { return nil }
      server.save("1", type: "Book", fields: ["a": .int64(1)])
      return .failing(record: "1", code: "INTERNAL_ERROR")
    }
    let saved = try await SaveRecords([book("1", ["a": 1])], in: fixture.database).run().get()
    #expect(saved[0]["a"] == 1)
    #expect(fixture.server.requests.map(\.path) == ["records/modify", "records/lookup"])
  }

  @Test func `records of one name and several types are not sent together`() async throws {
    let fixture = try CloudKitFixture.public()
    let replies = try await fixture.database.save(
      book("1"), DatabaseRecord("Author", "1"), book("2"))
    #expect(replies[0].record != nil && replies[2].record != nil)
    #expect(replies[1].error?.description.contains("has the same name") == true, "\(replies)")
  }

  @Test(arguments: [1e300, -5, 86_400])
  func `Y2: a delay that no client can keep is limited`(seconds: Double) async throws {
    let fixture = try CloudKitFixture.public()
    fixture.server.inject { _ in
      .status(429, body: #"{"serverErrorCode": "THROTTLED", "retryAfter": \#(seconds)}"#)
    }
    let error = await #expect(throws: RecordError.self) {
      try await fixture.database.lookup([id], keys: nil)
    }
    #expect(error?.retryDelay == .seconds(seconds < 0 ? 0 : 300))
  }

  @Test func `a reference to a record of a user, or to a missing one, can be saved again`()
    async throws
  {
    let fixture = try CloudKitFixture.public()
    fixture.server.save(
      "1", type: "Book", fields: ["owner": .reference("_user"), "author": .reference("missing")])
    let read = try #require(try await fixture.database.lookup([id], keys: nil)[id])
    let reply = try await fixture.database.save(read, policy: .replace)[0]
    let saved = try #require(reply.record, "\(reply)")
    #expect(saved["owner"] == read["owner"] && saved["author"] == read["author"])
  }

  @Test func `descriptions of credentials have no secrets`() throws {
    let key = try CloudKitServerKey(
      id: "8f2c", pem: CloudKitFixture.privateKey)
    let session = CloudKitUserSession(apiToken: "secret", webToken: "secret")
    let values: [Any] = [
      key, session, CloudKitCredentials.serverKey(key), CloudKitCredentials.user(session),
      CloudKitCredentials.apiToken("secret"),
    ]
    for value in values {
      var text = "\(value)"
      dump(value, to: &text)
      #expect(
        !text.contains("secret") && !text.contains("PRIVATE") && !text.contains("- 45"), "\(text)")
    }
    let swapped = #expect(throws: CloudKitKeyError.self) {
      try CloudKitServerKey(id: CloudKitFixture.privateKey, pem: "8f2c")
    }
    #expect(swapped?.description.contains("PRIVATE") == false)
  }

  @Test func `a type that was never saved has no records`() async throws {
    let fixture = try CloudKitFixture.public()
    #expect(try await QueryRecords("Book", in: fixture.database).run().get().isEmpty)
  }

  @Test func `a name that belongs to a record of another type is an error that says so`()
    async throws
  {
    let fixture = try CloudKitFixture.public()
    try await fixture.database.save(DatabaseRecord("Author", "1"))
    let reply = try await fixture.database.save(book("1"))[0]
    #expect(reply.error?.description.contains("the name belongs to Author/1") == true, "\(reply)")
    #expect(try await fixture.database.lookup([id], keys: nil).isEmpty)
    let deletion = try await fixture.database.modify(RecordBatch([.delete(id, ifTagged: nil)]))[0]
    guard case .unknownRecord? = deletion.error?.reason else {
      Issue.record("\(deletion)")
      return
    }
    #expect(fixture.server.records()["1"] != nil)
  }

  @Test func `records beyond the limit of a request are sent with further requests`() async throws {
    let fixture = try CloudKitFixture.public()
    let records = (0..<450).map { book("\($0)", ["a": 1]) }
    let saved = try await SaveRecords(records, in: fixture.database).run().get()
    #expect(saved.count == 450)
    #expect(fixture.requests(to: "records/modify").count == 3)
    let found = try await QueryRecords("Book", in: fixture.database).run().get()
    #expect(found.count == 450)
    // A proxy with a smaller limit.
    fixture.server.inject { $0.body.count > 4_000 ? .status(413, body: "too large") : nil }
    var changed = saved.prefix(100).map { $0 }
    for index in changed.indices { changed[index]["a"] = 2 }
    let again = try await SaveRecords(changed, in: fixture.database).run().get()
    #expect(again.allSatisfy { $0["a"] == 2 })
    let large = book("large", ["a": .string(String(repeating: "x", count: 1_000_001))])
    let reply = try await fixture.database.save(large)[0]
    #expect(reply.error?.description.contains("CloudKit accepts 1000000") == true, "\(reply)")
  }

  @Test func `a request for a second zone that is too large is split`() async throws {
    let fixture = try await CloudKitFixture.private()
    let second = RecordZone("Second")
    try await fixture.database.createZone(second)
    // A proxy that accepts 2 changes, or 1 change of a large record.
    fixture.server.inject { request in
      guard case .array(let operations)? = request.json?["operations"] else { return nil }
      return operations.count > 2 || request.body.count > 2_000
        ? .status(413, body: "too large") : nil
    }
    var records = ["1", "2"].map { book($0) }
    records += (0..<7).map { DatabaseRecord("Book", "\($0)", in: second) }
    records[5]["a"] = .string(String(repeating: "x", count: 2_000))
    let outcome = await SaveRecords(records, in: fixture.database).run()
    let error = try #require(outcome.error as? RecordBatchError)
    #expect(error.failures.map(\.record) == [records[5].id])
    guard case .limitExceeded? = error.failures.first?.reason else {
      Issue.record("\(error)")
      return
    }
    #expect(error.saved.map(\.id) == records.map(\.id).filter { $0 != records[5].id })
    #expect(error.unsent.isEmpty)
    let stored = fixture.server.records(in: "private", zone: "Second")
    #expect(stored.keys.sorted() == ["0", "1", "2", "4", "5", "6"])
  }

  @Test func `records of several zones are saved and read in their zones`() async throws {
    let fixture = try await CloudKitFixture.private()
    let second = RecordZone("Second")
    try await fixture.database.createZone(second)
    try await fixture.database.createZone(second)
    #expect(Set(try await fixture.database.zones()).isSuperset(of: [.default, second]))
    var other = DatabaseRecord("Book", "1", in: second)
    other["self"] = .reference(RecordReference(other.id))
    let replies = try await fixture.database.save(book("1", ["a": 1]), other)
    #expect(replies.allSatisfy { $0.record != nil }, "\(replies)")
    let found = try await fixture.database.lookup([id, other.id], keys: nil)
    #expect(found[id]?["a"] == 1)
    #expect(found[other.id]?["self"] == other["self"])
    try await fixture.database.deleteZone(second)
    let gone = await #expect(throws: RecordError.self) { try await fixture.database.save(other) }
    #expect(gone?.description.contains("ZONE_NOT_FOUND") == true, "\(gone as Any)")
  }
}
