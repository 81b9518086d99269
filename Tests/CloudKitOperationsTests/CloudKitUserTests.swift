import CloudKitOperations
import CompositeOperations
import CompositeOperationsTestKit
import Dispatch
import FakeCloudKit
import Foundation
import RecordOperations
import Testing

@Suite(.timeLimit(.minutes(10))) struct CloudKitUserTests {
  private let id = RecordID("Book", "1")

  @Test func `each response has the token of the next request, which is stored`() async throws {
    let tokens = Lock<[String]>([])
    let fixture = try await CloudKitFixture.private(renewed: { token in
      tokens.withLock { $0.append(token) }
    })
    // Requests at the same time wait for each other.
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<8 {
        group.addTask { try await fixture.database.save(book("\(number)")) }
      }
      try await group.waitForAll()
    }
    #expect(fixture.server.records(in: "private", zone: CloudKitFixture.zone).count == 8)
    let used = fixture.server.requests.compactMap { $0.query["ckWebAuthToken"] }
    #expect(used.count == 9 && Set(used).count == 9)
    let stored = tokens.withLock(\.self)
    #expect(stored.dropLast() == used.dropFirst()[...])
    // A later session continues with the stored token.
    let session = CloudKitUserSession(apiToken: "api", webToken: try #require(stored.last))
    let later = CloudKitFixture(
      server: fixture.server, as: .user(session), .private, fixture.database.options,
      now: { Date() })
    #expect(try await later.database.accountStatus() == .available)
  }

  @Test func `errors have the token of the next request, too`() async throws {
    let fixture = try await CloudKitFixture.private()
    for fault in [FakeCloudKit.Fault.throttled(retryAfter: nil), .losingReply, .cuttingReply] {
      fixture.server.inject { _ in fault }
      await #expect(throws: RecordError.self) { try await fixture.database.save(book("1")) }
      fixture.server.inject { _ in nil }
      #expect(try await fixture.database.accountStatus() == .available)
    }
  }

  @Test func `a response that is cut off has the token of the next request in its head`()
    async throws
  {
    let tokens = Lock<[String]>([])
    let fixture = try await CloudKitFixture.private(renewed: { token in
      tokens.withLock { $0.append(token) }
    })
    fixture.server.inject { request in
      request.path != "records/lookup" && request.number < 5 ? .cuttingReply : nil
    }
    // The save is found by a lookup, with the token of the response to the save.
    let saved = try await SaveRecords(
      [book("1", ["a": 1])], in: fixture.database, retries: RetryPolicy(attempts: 2, backoff: .none)
    ).run().get()
    #expect(saved[0]["a"] == 1)
    let query = await QueryRecords(
      "Book", in: fixture.database, retries: RetryPolicy(attempts: 2, backoff: .none)
    ).run()
    #expect(try query.get().count == 1)
    let paths = ["zones/modify", "records/modify", "records/lookup"]
    #expect(fixture.server.requests.map(\.path) == paths + ["records/query", "records/query"])
    // The last token is for the next request.
    let used = fixture.server.requests.compactMap { $0.query["ckWebAuthToken"] }
    #expect(tokens.withLock(\.self).dropLast() == used.dropFirst()[...])
  }

  /// Otherwise the next token would be lost with the response.
  @Test func `a cancelled request runs to its end`() async throws {
    let fixture = try await CloudKitFixture.private()
    let (sent, release) = (Gate(), DispatchSemaphore(value: 0))
    fixture.server.inject { request in
      if request.path == "records/modify" {
        sent.open()
        release.wait()
      }
      return nil
    }
    let task = Task { try await fixture.database.save(book("1")) }
    try await sent.pass()
    task.cancel()
    release.signal()
    _ = try? await task.value
    #expect(try await fixture.database.accountStatus() == .available)
    #expect(try await fixture.database.lookup([id], keys: nil).count == 1)
  }

  @Test func `without a user, the error and a request say where to sign in`() async throws {
    let fixture = try await CloudKitFixture.private()
    fixture.server.signOutAll()
    #expect(try await fixture.database.accountStatus() == .noAccount)
    let url = try await fixture.database.signInURL()
    #expect(url == fixture.server.signInURL.absoluteString)
    let error = await #expect(throws: RecordError.self) {
      try await fixture.database.save(book("1"))
    }
    #expect(error?.description.contains("the user must sign in: open \(url ?? "-")") == true)
    let outcome = await QueryRecords("Book", in: fixture.database)
      .requiring(.account(in: fixture.database)).run()
    #expect(outcome.isCancelled)
    #expect(fixture.requests(to: "records/query").isEmpty)
    let again = CloudKitUserSession(apiToken: "api", webToken: fixture.server.signIn("_user"))
    let signedIn = CloudKitFixture(
      server: fixture.server, as: .user(again), .private, fixture.database.options, now: { Date() })
    #expect(try await signedIn.database.signInURL() == nil)
    #expect(try await signedIn.database.save(book("1"))[0].record != nil)
  }

  @Test func `a token of the container reads the public database`() async throws {
    let server = try FakeCloudKit(apiToken: "a+/=")
    server.save("1", type: "Book", fields: ["title": .string("Emma")])
    let fixture = CloudKitFixture(
      server: server, as: .apiToken("a+/="), .public, CloudKitOptions(), now: { Date() })
    #expect(try await fixture.database.accountStatus() == .available)
    #expect(try await fixture.database.lookup([id], keys: nil)[id]?["title"] == "Emma")
    let error = await #expect(throws: RecordError.self) {
      try await fixture.database.save(book("2"))
    }
    #expect(error?.description.contains("must sign in") == true)
    let hidden = CloudKitFixture(
      server: server, as: .apiToken("a+/="), .private,
      CloudKitOptions(zone: "Library", types: ["Book"]),
      now: { Date() })
    #expect(try await hidden.database.accountStatus() == .noAccount)
    #expect(!hidden.database.capabilities.contains(.changes))
  }

  @Test func `the identity of a private database includes the user`() async throws {
    let fixture = try await CloudKitFixture.private()
    let first = try await fixture.database.identity()
    #expect(first == "\(CloudKitFixture.container) development private Library _user")
    let other = CloudKitUserSession(apiToken: "api", webToken: fixture.server.signIn("_other"))
    let second = CloudKitFixture(
      server: fixture.server, as: .user(other), .private, fixture.database.options, now: { Date() })
    #expect(try await second.database.identity() != first)
  }

  @Test func `a server that cannot be reached is temporarily unavailable`() async throws {
    var options = CloudKitOptions()
    options.host = try #require(URL(string: "http://127.0.0.1:1"))
    let database = CloudKitRecordDatabase(
      CloudKitFixture.container, .development, as: .apiToken("a"), options)
    #expect(try await database.accountStatus() == .temporarilyUnavailable)
    let error = await #expect(throws: RecordError.self) { try await database.save(book("1")) }
    #expect(error?.isRetriable == true)
    guard case .unavailable? = error?.reason else {
      Issue.record("\(error as Any)")
      return
    }
  }
}
