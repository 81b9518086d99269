import CloudKitOperations
import CompositeOperations
import FakeCloudKit
import Foundation
import RecordOperations
import TestSupport
import Testing

/// Mirrors of a zone with a record that cannot be read.
@Suite struct CloudKitUnreadTests {
  private let folder: TemporaryFolder
  private let fixture: CloudKitFixture
  private let local: SQLiteRecordDatabase
  private let mirror: RecordMirror

  init() async throws {
    folder = try TemporaryFolder()
    fixture = try await .private(types: ["Book"])
    local = SQLiteRecordDatabase(folder["local.sqlite"].path)
    mirror = RecordMirror(
      of: ["Book"], in: local, with: fixture.database,
      retries: RetryPolicy(attempts: 2, backoff: .none))
    try await fixture.database.save(
      book("1", ["title": "Emma"]), book("2", ["title": "Persuasion"]), book("3", ["title": "Lady"])
    )
  }

  private func fail(_ record: String, _ code: String = "INTERNAL_ERROR") {
    fixture.server.inject { _ in .failing(record: record, code: code) }
  }

  private func sync() async throws -> String { "\(try await mirror.sync.run().get())" }

  private func titles() async throws -> [FieldValue] {
    try await QueryRecords("Book", in: local).run().get().sorted { $0.id.name < $1.id.name }
      .map { $0["title"] }
  }

  @Test(arguments: ["INTERNAL_ERROR", "THROTTLED", "ACCESS_DENIED", "BAD_REQUEST"])
  func `M9: a record that cannot be read is rejected alone and looked up again`(
    code: String
  ) async throws {
    fail("2", code)
    #expect(try await sync() == "2 saved, 1 rejected")
    #expect(try await titles() == ["Emma", "Lady"])
    let rejections = try await mirror.rejections()
    #expect(rejections.keys.map { "\($0)" } == ["Book/2"])
    #expect(rejections.values.first?.contains(code) == true)
    // It is reported once.
    #expect(try await sync() == "no changes")
    // The token has advanced, so only the record itself is fetched.
    fixture.server.inject { _ in nil }
    #expect(try await sync() == "1 saved")
    #expect(try await titles() == ["Emma", "Persuasion", "Lady"])
    #expect(try await mirror.rejections().isEmpty)
    #expect(try await mirror.sync.run().get().isEmpty)
  }

  @Test func `M9: an edit of a record that cannot be read is merged when it can`() async throws {
    _ = try await sync()
    var second = try #require(
      try await fixture.database.lookup([RecordID("Book", "2")], keys: nil).values.first)
    second["pages"] = 300
    try await fixture.database.save(second)
    _ = try await SaveRecords(
      [book("2", ["title": "Mine"]), book("4", ["title": "New"])], in: local, policy: .changedKeys
    ).run().get()
    fail("2")
    #expect(try await sync() == "1 sent, 1 rejected")
    #expect(try await sync() == "no changes")
    fixture.server.inject { _ in nil }
    #expect(try await sync() == "1 saved, 1 sent")
    let stored = try await fixture.database.lookup([second.id], keys: nil)[second.id]
    #expect(stored?["title"] == "Mine" && stored?["pages"] == 300)
    #expect(try await mirror.sync.run().get().isEmpty)
  }

  @Test(arguments: [false, true])
  func `M9: a record that could not be read and was deleted since is deleted locally`(
    isKnown: Bool
  ) async throws {
    if isKnown { _ = try await sync() }
    var third = try #require(
      try await fixture.database.lookup([RecordID("Book", "3")], keys: nil).values.first)
    third["pages"] = 1
    try await fixture.database.save(third)
    fail("3")
    _ = try await sync()
    fixture.server.inject { _ in nil }
    _ = try await DeleteRecords([third.id], in: fixture.database).run().get()
    #expect(try await sync() == (isKnown ? "1 deleted" : "no changes"))
    #expect(try await titles() == ["Emma", "Persuasion"])
    #expect(try await mirror.rejections().isEmpty)
  }

  @Test func `M9: all records are fetched again although one of them cannot be read`() async throws
  {
    _ = try await sync()
    try await mirror.fetchAllAgain()
    fail("1")
    #expect(try await sync() == "1 rejected")
    #expect(try await titles() == ["Emma", "Persuasion", "Lady"])
    fixture.server.inject { _ in nil }
    #expect(try await sync() == "no changes")
    #expect(try await mirror.rejections().isEmpty)
  }

  @Test func `D6: a fetch of changes ends in the error of a record that cannot be read`()
    async throws
  {
    fail("2", "ACCESS_DENIED")
    let outcome = await FetchChanges(in: fixture.database).run()
    guard case .error(let error) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect("\(error)".contains("ACCESS_DENIED") && "\(error)".contains("Book/2"))
    let page = try await fixture.database.changes(since: nil, in: .default)
    #expect(page.changed.map(\.id.name).sorted() == ["1", "3"])
    #expect(page.failed.map(\.record) == [RecordID("Book", "2")])
  }
}
