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

/// The logins of bearer tokens, and how long their tokens are held.
@Suite(.timeLimit(.minutes(10))) struct BearerLoginTests {
  private let url = URL(string: "https://server/a") ?? URL(fileURLWithPath: "/")
  private let loginURL = URL(string: "https://server/login") ?? URL(fileURLWithPath: "/")

  /// Accepts only some tokens.
  private static func server(
    _ token: HTTPBearerToken, accepting accepted: Set<String>
  ) -> FakeHTTPServer {
    FakeHTTPServer(interceptors: [token]) { request in
      accepted.contains(request.headers["Authorization"] ?? "") ? .init("yes") : .init(401)
    }
  }

  private static func tokens(of server: FakeHTTPServer) -> [String?] {
    server.requests.map { $0.headers["Authorization"] }
  }

  private struct Answer: Decodable {
    let token: String
    let seconds: Int
  }

  @Test(arguments: [false, true])
  func `N18: a login that cannot be decoded shows no body`(isRetried: Bool) async throws {
    let box = SessionBox()
    let loginURL = loginURL
    let token = HTTPBearerToken(
      for: "server",
      from: SimpleOperation {
        let login = HTTPDataOperation(loginURL, session: box.value).decoding(Answer.self)
        let answer =
          isRetried
          ? try await login.retryingHTTP(backoff: .none).run().get() : try await login.run().get()
        return HTTPBearerToken.Token(answer.token)
      })
    let server = FakeHTTPServer(interceptors: [token]) { _ in
      .init(#"{"token":"s3cr3t","seconds":"many"}"#)
    }
    box.value = server.session
    defer { box.value = .shared }
    let error = try #require(await HTTPDataOperation(url, session: server.session).run().error)
    let last = isRetried ? (error as? RetryError)?.errors.last : error
    let decoding = try #require(last as? HTTPDecodingError, "\(error)")
    #expect(decoding.body.isEmpty && "\(decoding)".contains("seconds is not of type Int"))
    var text = "\(error) \(String(reflecting: error))"
    dump(error, to: &text)
    #expect(!text.contains("s3cr3t"), "\(text)")
    // The error of another request still shows the body.
    let plain = FakeHTTPServer { _ in .init("other") }
    let outcome = await HTTPDataOperation(url, session: plain.session).decoding(Answer.self).run()
    #expect((outcome.error as? HTTPDecodingError)?.body == Data("other".utf8))
  }

  @Test func `N18: a token that was refused is not used again, also if it was new`() async throws {
    let logins = Logins()
    let token = HTTPBearerToken(for: "server") { HTTPBearerToken.Token("\(logins.begin())") }
    let server = Self.server(token, accepting: ["Bearer 3"])
    let fetch = HTTPDataOperation(url, session: server.session)
    #expect((await fetch.run().error as? HTTPStatusError)?.status == 401)
    #expect(try await fetch.run().get().status == 200)
    #expect(Self.tokens(of: server) == ["Bearer 1", "Bearer 2", "Bearer 3"])
  }

  @Test func `N18: the next request logs in after the token was invalidated`() async throws {
    let logins = Logins()
    let token = HTTPBearerToken(for: "server") { HTTPBearerToken.Token("\(logins.begin())") }
    let server = Self.server(token, accepting: ["Bearer 1", "Bearer 2"])
    let fetch = HTTPDataOperation(url, session: server.session)
    for step in 1...4 {
      if step == 3 { token.invalidate() }
      _ = try await fetch.run().get()
    }
    #expect(Self.tokens(of: server) == ["Bearer 1", "Bearer 1", "Bearer 2", "Bearer 2"])
  }

  @Test func `N18: no later request gets the token of a login that was invalidated`()
    async throws
  {
    let (logins, held) = (Logins(), Gate())
    let token = HTTPBearerToken(for: "server") {
      let number = logins.begin()
      if number == 1 { try await held.pass() }
      return HTTPBearerToken.Token("\(number)")
    }
    let server = Self.server(token, accepting: ["Bearer 1", "Bearer 2"])
    let fetch = HTTPDataOperation(url, session: server.session)
    let early = fetch.start()
    await held.waitForArrivals(1)
    token.invalidate()
    // It does not wait for the login that has begun.
    _ = try await fetch.run().get()
    held.open()
    _ = try await early.outcome.get()
    _ = try await fetch.run().get()
    #expect(Self.tokens(of: server) == ["Bearer 2", "Bearer 1", "Bearer 2"])
  }

  @Test func `N18: a login ends and its token is held if its only request is cancelled`()
    async throws
  {
    let (logins, held) = (Logins(), Gate())
    let token = HTTPBearerToken(for: "server") {
      let number = logins.begin()
      // Throws if the login is cancelled.
      try await held.pass()
      return HTTPBearerToken.Token("\(number)")
    }
    let server = Self.server(token, accepting: ["Bearer 1"])
    let fetch = HTTPDataOperation(url, session: server.session)
    let cancelled = fetch.start()
    await held.waitForArrivals(1)
    cancelled.cancel()
    #expect(await cancelled.outcome.isCancelled)
    let next = fetch.start()
    held.open()
    #expect(try await next.outcome.get().status == 200)
    #expect(logins.count == 1 && Self.tokens(of: server) == ["Bearer 1"])
  }

  @Test func `N18: a task that a login has started gets the token after the login`() async throws {
    let (logins, box, held, done) = (Logins(), SessionBox(), Gate(), Gate())
    let url = url
    let token = HTTPBearerToken(for: "server") {
      if logins.begin() == 1 {
        Task {
          try await held.pass()
          _ = await HTTPDataOperation(url, session: box.value).run()
          try await done.pass()
        }
      }
      return HTTPBearerToken.Token("\(logins.count)")
    }
    let server = Self.server(token, accepting: ["Bearer 1"])
    box.value = server.session
    defer { box.value = .shared }
    _ = try await HTTPDataOperation(url, session: server.session).run().get()
    held.open()
    await done.waitForArrivals(1)
    done.open()
    #expect(Self.tokens(of: server) == ["Bearer 1", "Bearer 1"])
  }

  @Test(arguments: [
    "127.0.0.1", "LocalHost", "localhost.", "127.0.0.2", "127.1", "2130706433", "0x7f.1", "[::1]",
    "[0:0:0:0:0:0:0:1]",
  ])
  func `N18: a request to a loopback address is not sent to a proxy`(host: String) async throws {
    let (server, proxy) = (try LoopbackServer(.init()), try LoopbackServer(.init()))
    let token = HTTPBearerToken(
      forURLs: { _ in true }, from: SimpleOperation { HTTPBearerToken.Token("1") })
    var configuration = HTTPConfiguration()
    configuration.proxy = .url(proxy.url())
    let session = HTTPSession(configuration, interceptors: [token])
    let url = try #require(URL(string: "http://\(host):\(server.port)/a"))
    _ = await HTTPDataOperation(url, session: session).run()
    // The server listens only at 127.0.0.1, and not every system knows a name that ends in a dot.
    let isReached = !host.hasPrefix("[") && host != "127.0.0.2" && !host.hasSuffix(".")
    if isReached { #expect(server.requests.count == 1) }
    #expect(server.requests.allSatisfy { $0["Authorization"] == "Bearer 1" })
    #expect(proxy.requests.isEmpty)
  }

  @Test(arguments: [
    "128.0.0.1", "12.7.0.1", "127.0.0.1.invalid", "localhost.invalid", "localhostx", "[::2]",
  ])
  func `N18: no other address is taken for a loopback address`(host: String) async throws {
    let proxy = try LoopbackServer(.init())
    let token = HTTPBearerToken(
      forURLs: { _ in true }, from: SimpleOperation { HTTPBearerToken.Token("1") })
    var configuration = HTTPConfiguration()
    configuration.proxy = .url(proxy.url())
    let session = HTTPSession(configuration, interceptors: [token])
    let url = try #require(URL(string: "http://\(host)/a"))
    _ = try await HTTPDataOperation(url, session: session).run().get()
    #expect(proxy.requests.map { $0["Authorization"] } == [nil])
  }
}
