import CloudKitOperations
import CompositeOperations
import FakeCloudKit
import Foundation
import RecordOperations
import TestSupport
import Testing

/// Runs the code of the article.
@Suite(.timeLimit(.minutes(10))) struct ComingFromMPCNSOperationTests {
  private let screen = Screen()
  private let server: FakeCloudKit
  private let session = CloudKitUserSession(apiToken: "api", webToken: "first")

  init() throws { server = try FakeCloudKit(apiToken: "api", users: ["first": "_user"]) }

  @Test func `the code of the article is the code of these tests`() throws {
    let code = try ArticleCode(of: "ComingFromMPCNSOperation")
    #expect(code.blocks.count == 2)
    #expect(try code.blocks(missingIn: #filePath) == [])
  }

  @Test func `a place is saved once, and only with an account`() async throws {
    let database = try await openPlaces(of: session, at: server.url)
    await savePlace(named: "Harbour", in: database)
    await savePlace(named: "Harbour", in: database)
    #expect(
      screen.lines == ["done", "Harbour is saved", "done", "Harbour is there already"])
    server.signOutAll()
    await savePlace(named: "Lighthouse", in: database)
    #expect(screen.lines.last == "no account")
    let places = server.records(in: "private", zone: "Places")
    #expect(places.values.map(\.type) == ["Place"])
    #expect(places.values.first?.fields == ["name": .string("Harbour")])
    #expect(
      server.requests.map(\.path) == [
        "zones/modify", "users/caller", "records/query", "records/modify", "users/caller",
        "records/query", "users/caller",
      ])
  }

  @Test func `an error of a save is reported`() async throws {
    let database = try await openPlaces(of: session, at: server.url)
    server.inject { $0.path == "records/modify" ? .code("QUOTA_EXCEEDED", status: 413) : nil }
    await savePlace(named: "Harbour", in: database)
    let lines = screen.lines
    #expect(lines.count == 2 && lines[0] == "done" && lines[1].contains("QUOTA_EXCEEDED"))
  }

  @Test func `places are found and deleted with two requests`() async throws {
    let database = try await openPlaces(of: session, at: server.url)
    for name in ["Pier 1", "Pier 2", "Harbour"] { await savePlace(named: name, in: database) }
    let before = server.requests.count
    let deleted = try await deletePlaces(startingWith: "Pier", in: database).run().get()
    #expect(deleted.count == 2)
    let places = server.records(in: "private", zone: "Places")
    #expect(places.values.map { $0.fields["name"] } == [.string("Harbour")])
    #expect(
      server.requests.dropFirst(before).map(\.path) == [
        "users/caller", "records/query", "records/modify",
      ])
  }

  @Test func `a place that another device changes meanwhile is not deleted`() async throws {
    let database = try await openPlaces(of: session, at: server.url)
    for name in ["1", "2"] {
      server.save(
        name, type: "Place", fields: ["name": .string("Pier")], in: "private", zone: "Places")
    }
    server.inject { [server] request in
      if request.path == "records/modify" {
        server.save(
          "2", type: "Place", fields: ["name": .string("Harbour")], in: "private", zone: "Places")
      }
      return nil
    }
    let outcome = await deletePlaces(startingWith: "Pier", in: database).run()
    let error = try #require(outcome.error as? RecordBatchError)
    #expect(error.deleted == [RecordID("Place", "1")])
    #expect(error.failures.count == 1)
    guard case .conflict(let record)? = error.failures.first?.reason else {
      Issue.record("\(error)")
      return
    }
    #expect(record.id.name == "2" && record["name"] == "Harbour")
    #expect(server.records(in: "private", zone: "Places").keys.sorted() == ["2"])
  }

  // MARK: The code of the article

  /// Opens the private database of a user, with a zone for places.
  func openPlaces(
    of session: CloudKitUserSession, at host: URL = CloudKitOptions().host
  ) async throws -> CloudKitRecordDatabase {
    let database = CloudKitRecordDatabase(
      "iCloud.com.example.library", .development, .private, as: .user(session),
      CloudKitOptions(zone: "Places", types: ["Place"], host: host))
    try await database.createZone()
    return database
  }

  /// How saving a record once may end well.
  enum SaveEnd: Sendable {
    case saved(DatabaseRecord)
    case wasThere(DatabaseRecord)
  }

  struct SaveIfNew: ComposableOperation {
    let record: DatabaseRecord
    let key: String
    let database: CloudKitRecordDatabase

    func perform(in context: OperationContext) async throws -> SaveEnd {
      let query = QueryRecords(
        record.id.type, in: database, where: .comparison(key, .equal, record[key]), limit: 1)
      if let found = try await context.run(query).first { return .wasThere(found) }
      let saved = try await context.run(SaveRecords([record], in: database))
      return .saved(saved[0])
    }
  }

  /// Saves a place unless there is one with its name, and shows the outcome.
  func savePlace(named name: String, in database: CloudKitRecordDatabase) async {
    var place = DatabaseRecord("Place")
    place["name"] = .string(name)

    let save = SaveIfNew(record: place, key: "name", database: database)
      .requiring(.account(in: database))
      .finally { @MainActor outcome in show(outcome.isCancelled ? "no account" : "done") }

    switch await save.run() {
    case .result(.saved): show("\(name) is saved")
    case .result(.wasThere): show("\(name) is there already")
    case .error(let error): report(error)
    case .cancelled: break
    }
  }

  /// Deletes the places whose names begin with a text, except those that another device changes
  /// between the query and the deletion.
  func deletePlaces(
    startingWith text: String, in database: CloudKitRecordDatabase
  ) -> some ComposableOperation<[RecordID]> {
    QueryRecords("Place", in: database, where: Field<String>("name").hasPrefix(text))
      .then { found in DeleteRecords(found, in: database) }
      .requiring(.account(in: database))
  }

  // MARK: Declarations that the code uses

  /// What the user sees.
  private final class Screen: Sendable {
    private let shown = Lock<[String]>([])

    var lines: [String] { shown.withLock(\.self) }

    func show(_ line: String) { shown.withLock { $0.append(line) } }
  }

  private func show(_ line: String) { screen.show(line) }

  private func report(_ error: any Error) { screen.show("\(error)") }
}
