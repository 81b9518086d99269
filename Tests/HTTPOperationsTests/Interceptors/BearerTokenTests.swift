import CompositeOperations
import CompositeOperationsTestKit
import Foundation
import HTTPOperations
import HTTPOperationsTestKit
import LoopbackServer
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(10))) struct BearerTokenTests {
  private let url = URL(string: "https://server/a") ?? URL(fileURLWithPath: "/")

  /// Answers 401 unless the number of the token is at least this one.
  private static func server(
    _ interceptors: [any HTTPInterceptor], accepting first: Int
  ) -> FakeHTTPServer {
    FakeHTTPServer(interceptors: interceptors) { request in
      let token = request.headers["Authorization"]?.split(separator: " ").last
      return (token.flatMap { Int($0) } ?? 0) >= first ? .init("yes") : .init("no", status: 401)
    }
  }

  @Test func `N18: 50 requests that are refused at the same time share one login`() async throws {
    let (logins, held) = (Logins(), Gate())
    let passing = PassingInterceptor()
    let token = HTTPBearerToken(for: "server") {
      let number = logins.begin()
      if number == 2 { try await held.pass() }
      return HTTPBearerToken.Token("\(number)")
    }
    let server = Self.server([passing, token], accepting: 2)
    // The first request has logged in for all.
    let fetch = HTTPDataOperation(url, session: server.session)
    let runs = (0..<50).map { _ in fetch.start() }
    // Each has been refused once, and is about to wait for the second login.
    await passing.gate.waitForArrivals(100)
    await held.waitForArrivals(1)
    held.open()
    for run in runs { #expect(try await run.outcome.get().body == Data("yes".utf8)) }
    #expect(logins.count == 2)
    let sent = server.requests.map { $0.headers["Authorization"] }
    #expect(sent.count { $0 == "Bearer 1" } == 50 && sent.count { $0 == "Bearer 2" } == 50)
  }

  @Test func `N18: a request with an older token is sent again without another login`() async throws
  {
    let logins = Logins()
    let late = Gate()
    let token = HTTPBearerToken(for: "server") { HTTPBearerToken.Token("\(logins.begin())") }
    let server = Self.server([token, LateInterceptor(gate: late)], accepting: 2)
    let slow = HTTPDataOperation(url.appendingPathComponent("late"), session: server.session)
      .start()
    await late.waitForArrivals(1)
    #expect(try await HTTPDataOperation(url, session: server.session).run().get().status == 200)
    #expect(logins.count == 2)
    late.open()
    #expect(try await slow.outcome.get().status == 200)
    #expect(logins.count == 2)
  }

  @Test func `N18: a new token that is refused, too, delivers the 401`() async throws {
    let logins = Logins()
    let token = HTTPBearerToken(for: "server") { HTTPBearerToken.Token("\(logins.begin())") }
    let server = Self.server([token], accepting: 100)
    let outcome = await HTTPDataOperation(url, session: server.session).run()
    let error = try #require(outcome.error as? HTTPStatusError, "\(outcome)")
    #expect(error.status == 401 && error.body == Data("no".utf8))
    #expect(server.requests.map { $0.headers["Authorization"] } == ["Bearer 1", "Bearer 2"])
  }

  @Test func `N18: other errors than 401 cause no login`() async throws {
    let logins = Logins()
    let token = HTTPBearerToken(for: "server") { HTTPBearerToken.Token("\(logins.begin())") }
    let server = FakeHTTPServer(interceptors: [token]) { _ in .init(403) }
    let outcome = await HTTPDataOperation(url, session: server.session).run()
    #expect((outcome.error as? HTTPStatusError)?.status == 403)
    #expect(logins.count == 1 && server.requests.count == 1)
  }

  @Test func `N18: the error of a login is the error of every request that waits for it`()
    async throws
  {
    let (logins, held, passing) = (Logins(), Gate(), PassingInterceptor())
    let token = HTTPBearerToken(for: "server") {
      logins.begin()
      try await held.pass()
      throw LoginFailure()
    }
    let server = Self.server([passing, token], accepting: 1)
    let fetch = HTTPDataOperation(url, session: server.session)
    let runs = (0..<5).map { _ in fetch.start() }
    await passing.gate.waitForArrivals(5)
    await held.waitForArrivals(1)
    held.open()
    for run in runs { #expect(await run.outcome.error is LoginFailure) }
    #expect(server.requests.isEmpty)
  }

  @Test func `N18: cancelling requests that wait does not cancel the login of others`() async throws
  {
    for seed in 0..<20 as Range<UInt64> {
      let (logins, held) = (Logins(), Gate())
      let token = HTTPBearerToken(for: "server") {
        let number = logins.begin()
        try await held.pass()
        return HTTPBearerToken.Token("\(number)")
      }
      let server = Self.server([token], accepting: 1)
      let executor = SeededExecutor(seed: seed)
      let fetch = HTTPDataOperation(url, session: server.session)
      let environment = OperationEnvironment(executor: executor)
      let runs = (0..<20).map { _ in fetch.start(in: environment) }
      // Until all of them wait for the login.
      executor.drain()
      #expect(logins.count == 1 && held.arrivals == 1, "seed \(seed)")
      for run in runs.dropLast() { run.cancel() }
      executor.drain()
      held.open()
      executor.drain()
      for run in runs.dropLast() { #expect(await run.outcome.isCancelled, "seed \(seed)") }
      #expect(try await runs[19].outcome.get().status == 200, "seed \(seed)")
      #expect(logins.count == 1 && server.requests.count == 1, "seed \(seed)")
    }
  }

  @Test(arguments: [
    "https://other/a", "http://server/a", "https://server.other/a", "https://a.server/",
    "https://server@other/a", "http://127.other.test/a",
  ])
  func `N18: no other server gets the token`(address: String) async throws {
    let logins = Logins()
    let permitted = Log()
    let token = HTTPBearerToken(for: "Server") { HTTPBearerToken.Token("\(logins.begin())") }
    let all = HTTPBearerToken(
      forURLs: { url in
        permitted.add(url.absoluteString)
        return url.host == "127.other.test"
      }, from: SimpleOperation { HTTPBearerToken.Token("\(logins.begin())") })
    let server = FakeHTTPServer(interceptors: [token, all]) { _ in .init(401) }
    let other = try #require(URL(string: address))
    _ = await HTTPDataOperation(other, session: server.session).run()
    #expect(server.requests.map { $0.headers["Authorization"] } == [nil])
    #expect(logins.count == 0)
    #expect(permitted.entries.allSatisfy { $0.hasPrefix("https") })
  }

  @Test(arguments: [
    "https://other/b", "http://server/b", "https://server.other/b", "//server@other/b",
  ])
  func `N18: a redirect does not take the token to another server`(location: String) async throws {
    let token = HTTPBearerToken(for: "server") { HTTPBearerToken.Token("1") }
    let server = FakeHTTPServer(interceptors: [token]) { request in
      request.url.path == "/b" ? .init() : .init(302, headers: ["Location": location])
    }
    _ = try await HTTPDataOperation(url, session: server.session).run().get()
    #expect(server.requests.map { $0.headers["Authorization"] } == ["Bearer 1", nil])
  }

  @Test func `N18: a redirect of a real server does not take the token elsewhere`() async throws {
    let other = try LoopbackServer(.init("arrived"))
    let place = "http://localhost:\(other.port)/b"
    let server = try LoopbackServer(.init(302, headers: ["Location: \(place)"]))
    let token = HTTPBearerToken(for: "127.0.0.1") { HTTPBearerToken.Token("1") }
    let session = HTTPSession(interceptors: [token])
    _ = try await HTTPDataOperation(server.url("/a"), session: session).run().get()
    #expect(server.requests.map { $0["Authorization"] } == ["Bearer 1"])
    #expect(other.requests.map { $0["Authorization"] } == [nil])
  }

  @Test func `N18: a token is renewed before use after its lifetime`() async throws {
    let (logins, clock) = (Logins(), ManualClock())
    let token = HTTPBearerToken(for: "server", clock: clock) {
      HTTPBearerToken.Token("\(logins.begin())", expiresIn: .seconds(60))
    }
    let server = Self.server([token], accepting: 1)
    let fetch = HTTPDataOperation(url, session: server.session)
    for step in [0, 59, 1, 59] {
      clock.advance(by: .seconds(step))
      _ = try await fetch.run().get()
    }
    #expect(
      server.requests.map { $0.headers["Authorization"] } == [
        "Bearer 1", "Bearer 1", "Bearer 2", "Bearer 2",
      ])
  }

  @Test func `N18: the requests of a login are sent without a token`() async throws {
    let session = SessionBox()
    let login = URL(string: "https://server/login") ?? url
    let token = HTTPBearerToken(for: "server") {
      let response = try await HTTPDataOperation(login, session: session.value).run().get()
      return HTTPBearerToken.Token(String(decoding: response.body, as: UTF8.self))
    }
    let server = FakeHTTPServer(interceptors: [token]) { _ in .init("7") }
    session.value = server.session
    defer { session.value = .shared }
    _ = try await HTTPDataOperation(url, session: server.session).run().get()
    #expect(server.requests.map { $0.headers["Authorization"] } == [nil, "Bearer 7"])
  }

  @Test func `N18: no text of a token shows it`() async throws {
    let token = HTTPBearerToken.Token("s3cr3t", expiresIn: .seconds(60))
    let interceptor = HTTPBearerToken(for: "server") { token }
    let server = FakeHTTPServer(interceptors: [interceptor]) { _ in .init(401) }
    let outcome = await HTTPDataOperation(url, session: server.session).run()
    #expect(server.requests[0].headers["Authorization"] == "Bearer s3cr3t")
    for value in [token, interceptor, server.session, outcome, Optional(token) as Any] {
      var dumped = ""
      dump(value, to: &dumped)
      let texts = [dumped, "\(value)", String(reflecting: value)]
      #expect(!texts.contains { $0.contains("s3cr3t") }, "\(texts)")
    }
  }
}

private struct LoginFailure: Error {}

/// Counts logins.
final class Logins: Sendable {
  private let state = Lock(0)

  var count: Int { state.withLock { $0 } }

  /// - Returns: The number of this login, from 1.
  @discardableResult func begin() -> Int {
    state.withLock { count in
      count += 1
      return count
    }
  }
}

/// A session for interceptors that are created before it.
final class SessionBox: Sendable {
  private let state = Lock(HTTPSession.shared)

  var value: HTTPSession {
    get { state.withLock { $0 } }
    set { _ = state.withLock { exchange(&$0, with: newValue) } }
  }
}

/// Passes an open gate before every request, so that tests can wait for them.
private struct PassingInterceptor: HTTPInterceptor {
  let gate = Gate(isOpen: true)

  func willSend(_ request: URLRequest) async throws -> URLRequest {
    try await gate.pass()
    return request
  }
}

/// Holds the first answer for a URL whose name is `late`.
private struct LateInterceptor: HTTPInterceptor {
  let gate: Gate

  func shouldSendAgain(
    _ request: URLRequest, after response: HTTPResponseHead, repetition: Int
  ) async throws -> Bool {
    if request.url?.lastPathComponent == "late" { try await gate.pass() }
    return false
  }
}
