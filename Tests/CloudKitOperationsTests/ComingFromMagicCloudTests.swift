import CloudKitOperations
import CompositeOperations
import FakeCloudKit
import Foundation
import RecordOperations
import TestSupport
import Testing

/// Runs the code of the article.
@Suite(.timeLimit(.minutes(10))) struct ComingFromMagicCloudTests {
  private let folder: TemporaryFolder
  private let server: FakeCloudKit
  private let retries = RetryPolicy(attempts: 4, backoff: .none)

  init() throws {
    folder = try TemporaryFolder()
    server = try FakeCloudKit(apiToken: "api", users: ["first": "_user"])
  }

  @Test func `the code of the article is the code of these tests`() throws {
    let code = try ArticleCode(of: "ComingFromMagicCloud")
    #expect(code.blocks.count == 2)
    #expect(try code.blocks(missingIn: #filePath) == [])
  }

  @Test func `two devices exchange their changes, with faults`() async throws {
    let (first, second) = (try await device("first"), try await device("second"))
    let jane = Author(id: "jane", name: "Jane Austen")
    let persuasion = Book(
      id: "9780141439600", title: "Persuasion",
      author: RecordReference(RecordID("Author", "jane"), onDelete: .cascade))
    try await add(persuasion, by: jane, to: first)
    // The changes, the save, its lookup, and the changes for the second device.
    let faults = Lock<[FakeCloudKit.Fault?]>([
      .unavailable(retryAfter: nil), nil, .throttled(retryAfter: nil), .cuttingReply, nil,
      .losingReply,
    ])
    server.inject { request in
      if request.path == "users/caller" { return nil }
      return faults.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }
    let sent = try await exchangeChanges(of: first).get()
    #expect(sent.sent == 2 && sent.usesChanges, "\(sent)")
    let received = try await exchangeChanges(of: second).get()
    #expect(received.saved == 2, "\(received)")
    let areMade = faults.withLock(\.isEmpty)
    #expect(areMade)
    #expect(stored("jane") == ["name": .string("Jane Austen")])
    #expect(stored("9780141439600")?["title"] == .string("Persuasion"))
    #expect(stored("9780141439600")?["author"]?.value["recordName"] == "jane")
    #expect(stored("9780141439600")?["author"]?.value["action"] == "DELETE_SELF")

    let books = second.array(of: Book.self)
    try await books.refresh()
    #expect(books.elements.map(\.title) == ["Persuasion"])
    #expect(books.elements.map(\.author) == [persuasion.author])
    var changed = try #require(books.elements.first)
    changed.title = "Emma"
    try await books.update(changed)
    // Without an account, the edit stays in the file.
    server.signOutAll()
    #expect(await exchangeChanges(of: second).isCancelled)
    #expect(books.elements.map(\.title) == ["Emma"])
    #expect(stored("9780141439600")?["title"] == .string("Persuasion"))
    // After the sign-in, it is sent from the same file.
    let signedIn = try await device("second")
    #expect(try await exchangeChanges(of: signedIn).get().sent == 1)
    let again = try await device("first")
    #expect(try await exchangeChanges(of: again).get().saved == 1)
    #expect(stored("9780141439600")?["title"] == .string("Emma"))
    let shown = again.array(of: Book.self)
    try await shown.refresh()
    #expect(shown.elements.map(\.title) == ["Emma"])
    // A deletion on one device, which deletes the books of the author too.
    try await again.array(of: Author.self).remove(jane)
    _ = try await exchangeChanges(of: again).get()
    _ = try await exchangeChanges(of: signedIn).get()
    #expect(server.records(in: "private", zone: "Library").isEmpty)
    try await books.refresh()
    #expect(books.elements.isEmpty)
  }

  @Test func `an upload with faults is made once, and followed by the download`() async throws {
    let database = try await database()
    server.inject { request in
      switch request.number {
      case 2: .throttled(retryAfter: nil)
      case 3: .cuttingReply
      case 5: .unavailable(retryAfter: nil)
      default: nil
      }
    }
    let books = try await upload(
      ["Persuasion", "Emma"], by: "jane", to: database, retries: retries
    ).run().get()
    #expect(books.map { $0["title"] } == ["Emma", "Persuasion"])
    let author = RecordReference(RecordID("Author", "jane"), onDelete: .cascade)
    #expect(books.allSatisfy { $0["author"] == .reference(author) })
    #expect(
      server.requests.map(\.path) == [
        "zones/modify", "records/modify", "records/modify", "records/lookup", "records/query",
        "records/query",
      ])
    #expect(server.records(in: "private", zone: "Library").count == 3)
    // A later upload for the same author.
    let more = try await upload(["Sanditon"], by: "jane", to: database).run().get()
    #expect(more.count == 3)
    _ = try await DeleteRecords([author.id], in: database).run().get()
    #expect(server.records(in: "private", zone: "Library").isEmpty)
  }

  @Test func `a failed upload is not followed by a download`() async throws {
    let database = try await database()
    server.inject { _ in .code("QUOTA_EXCEEDED", status: 413) }
    let outcome = await upload(["Emma"], by: "jane", to: database, retries: retries).run()
    #expect("\(try #require(outcome.error))".contains("QUOTA_EXCEEDED"))
    #expect(server.requests.map(\.path) == ["zones/modify", "records/modify"])
  }

  private func session() -> CloudKitUserSession {
    CloudKitUserSession(apiToken: "api", webToken: server.signIn("_user"))
  }

  /// A mirror in the file of a device.
  private func device(_ name: String) async throws -> RecordMirror {
    try await mirrorLibrary(
      of: session(), in: folder["\(name).sqlite"].path, at: server.url, retries: retries)
  }

  private func database() async throws -> CloudKitRecordDatabase {
    let database = CloudKitRecordDatabase(
      CloudKitFixture.container, .development, .private, as: .user(session()),
      CloudKitOptions(
        zone: "Library", referenceTypes: ["Book.author": "Author"], host: server.url))
    try await database.createZone()
    return database
  }

  private func stored(_ record: String) -> [String: CloudField]? {
    server.records(in: "private", zone: "Library")[record]?.fields
  }

  // MARK: The code of the article

  struct Author: Codable, Identifiable, RecordConvertible {
    let id: String
    var name: String
  }

  struct Book: Codable, Identifiable, RecordConvertible {
    let id: String
    var title: String
    var author: RecordReference
  }

  /// Mirrors the library of a user in a file.
  func mirrorLibrary(
    of session: CloudKitUserSession, in file: String, at host: URL = CloudKitOptions().host,
    retries: RetryPolicy = .databaseDefault
  ) async throws -> RecordMirror {
    let options = CloudKitOptions(
      zone: "Library", types: ["Author", "Book"], referenceTypes: ["Book.author": "Author"],
      host: host)
    let remote = CloudKitRecordDatabase(
      "iCloud.com.example.library", .development, .private, as: .user(session), options)
    try await remote.createZone()
    return RecordMirror(
      of: ["Author", "Book"], in: SQLiteRecordDatabase(file), with: remote, conflicts: .newest,
      retries: retries)
  }

  /// Receives the changes of other devices and uploads those of this one. Without an account, the
  /// round is cancelled, and the edits stay in the file.
  func exchangeChanges(of mirror: RecordMirror) async -> Outcome<MirrorReport> {
    await mirror.sync.requiring(.account(in: mirror.remote)).run()
  }

  /// Adds a book with its author to the file.
  func add(_ book: Book, by author: Author, to mirror: RecordMirror) async throws {
    try await mirror.array(of: Author.self).insert(author)
    try await mirror.array(of: Book.self).insert(book)
  }

  /// Uploads an author with books, then downloads all books of the author. The deletion of the author
  /// deletes the books, too.
  func upload(
    _ titles: [String], by name: String, to database: CloudKitRecordDatabase,
    retries: RetryPolicy = .databaseDefault
  ) -> some ComposableOperation<[DatabaseRecord]> {
    var author = DatabaseRecord("Author", name)
    author["name"] = .string(name)
    let reference = RecordReference(author.id, onDelete: .cascade)
    let books = titles.map { title in
      var book = DatabaseRecord("Book")
      book["title"] = .string(title)
      book["author"] = .reference(reference)
      return book
    }
    let download = QueryRecords(
      "Book", in: database, where: Field("author") == reference, sortedBy: [.ascending("title")],
      retries: retries)
    return SaveRecords([author] + books, in: database, policy: .allKeys, retries: retries)
      .then { _ in download }
  }
}
