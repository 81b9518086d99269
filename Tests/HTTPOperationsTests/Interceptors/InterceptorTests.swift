import CompositeOperations
import CompositeOperationsTestKit
import Foundation
import HTTPOperations
import HTTPOperationsTestKit
import LoopbackServer
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(10))) struct InterceptorTests {
  private let url = URL(string: "https://server/a") ?? URL(fileURLWithPath: "/")

  @Test func `N17: interceptors change requests in order and are asked in the reverse order`()
    async throws
  {
    let log = Log()
    let interceptors = ["1", "2", "3"].map { name in
      LoggingInterceptor(name, log) { name == "2" && $0 == 1 }
    }
    var configuration = HTTPConfiguration()
    configuration.headers = ["X-Order": "0"]
    let server = FakeHTTPServer(configuration, interceptors: interceptors) { _ in .init(503) }
    let outcome = await HTTPDataOperation(url, session: server.session).run()
    #expect((outcome.error as? HTTPStatusError)?.status == 503)
    // The second one said yes, so the first one was not asked before the repetition.
    let sent = ["1 sends", "2 sends", "3 sends"]
    #expect(
      log.entries == sent + ["3 asked 1", "2 asked 1"] + sent
        + ["3 asked 1", "2 asked 2", "1 asked 1"])
    #expect(server.requests.map { $0.headers["X-Order"] } == ["0123", "0123"])
  }

  @Test func `N17: a request is sent again at most 3 times`() async throws {
    let log = Log()
    let interceptors = ["1", "2"].map { name in
      LoggingInterceptor(name, log) { name == "1" || $0 == 1 }
    }
    let server = FakeHTTPServer(interceptors: interceptors) { _ in .init("busy", status: 503) }
    let outcome = await HTTPDataOperation(url, session: server.session).run()
    let error = try #require(outcome.error as? HTTPStatusError, "\(outcome)")
    #expect(error.status == 503 && error.body == Data("busy".utf8))
    #expect(server.requests.count == 4)
    #expect(
      log.entries.filter { $0.contains("asked") } == [
        "2 asked 1", "2 asked 2", "1 asked 1", "2 asked 2", "1 asked 2",
      ])
  }

  @Test func `N17: every kind of request is changed and sent again with its body`() async throws {
    let log = Log()
    let seen = Log()
    let server = FakeHTTPServer(interceptors: [LoggingInterceptor("1", log) { $0 == 1 }]) {
      request in
      let body = String(decoding: request.body, as: UTF8.self)
      seen.add("\(request.method) \(request.headers["X-Order"] ?? "-") \(body)")
      return seen.entries.count % 2 == 1 ? .init("no", status: 503) : .init("yes")
    }
    let session = server.session
    let folder = try TemporaryFolder()
    try Data("file".utf8).write(to: folder["file"])
    let yes = Data("yes".utf8)
    #expect(try await HTTPDataOperation(url, session: session).run().get().body == yes)
    let stream = HTTPStreamOperation(url, session: session) { response in
      var body: [UInt8] = []
      for try await bytes in response { body += bytes }
      return Data(body)
    }
    #expect(try await stream.run().get() == yes)
    let download = HTTPDownloadOperation(url, to: folder["copy"], session: session)
    #expect(try await download.run().get().byteCount == 3)
    for source in [
      HTTPUploadSource.data(Data("data".utf8)), .file(folder["file"]),
      .stream {
        AsyncStream { continuation in
          continuation.yield(Array("parts".utf8))
          continuation.finish()
        }
      },
    ] {
      let upload = HTTPUploadOperation(url, method: "POST", from: source, session: session)
      #expect(try await upload.run().get().body == yes)
    }
    let expected = ["GET 1 ", "GET 1 ", "GET 1 ", "POST 1 data", "POST 1 file", "POST 1 parts"]
    #expect(seen.entries == expected.flatMap { [$0, $0] })
  }

  @Test func `N17: a redirected request begins again without what interceptors have set`()
    async throws
  {
    let server = FakeHTTPServer(interceptors: [SecretForServer()]) { request in
      request.url.host == "server" ? .init(302, headers: ["Location": "https://other/b"]) : .init()
    }
    let response = try await HTTPDataOperation(url, session: server.session).run().get()
    #expect(response.url.absoluteString == "https://other/b")
    #expect(server.requests.map { $0.headers["X-Api-Key"] } == ["secret", nil])
  }

  @Test func `N17: an interceptor can read and replace a body in memory`() async throws {
    let server = FakeHTTPServer(
      interceptors: [ChangingInterceptor { $0.httpBody?.append(contentsOf: Data("!".utf8)) }]
    ) { _ in .init() }
    let upload = HTTPUploadOperation(
      url, method: "POST", from: .data(Data("body".utf8)), session: server.session)
    _ = try await upload.run().get()
    #expect(server.requests.map(\.body) == [Data("body!".utf8)])
  }

  @Test func `N17: an interceptor that changes the method or the server ends the request`()
    async throws
  {
    let others = ["https://server:444/a", "https://other/a", "http://server:443/a"]
    let moving = others.map { other in
      (ChangingInterceptor { $0.url = URL(string: other) }, "changed its server")
    }
    for (interceptor, text) in moving + [
      (ChangingInterceptor { $0.httpMethod = "PUT" }, "changed its method")
    ] {
      let server = FakeHTTPServer(interceptors: [interceptor]) { _ in .init() }
      let outcome = await HTTPDataOperation(url, session: server.session).run()
      let error = try #require(outcome.error as? HTTPTransferError, "\(outcome)")
      #expect("\(error)".contains(text), "\(error)")
      #expect(server.requests.isEmpty)
    }
  }

  @Test func `N17: an error of an interceptor is the error of the request`() async throws {
    let failing = FailingInterceptor()
    let server = FakeHTTPServer(interceptors: [failing]) { _ in .init(503) }
    #expect(
      await HTTPDataOperation(url, session: server.session).run().error
        as? FailingInterceptor.Failure
        == .asked)
    let unsent = URL(string: "https://server/unsent") ?? url
    #expect(
      await HTTPDataOperation(unsent, session: server.session).run().error
        as? FailingInterceptor.Failure == .sends)
    #expect(server.requests.count == 1)
  }

  @Test(arguments: ["sends", "asked"])
  func `N17: a cancellation ends an interceptor that waits`(place: String) async throws {
    let interceptor = WaitingInterceptor(place: place)
    let server = FakeHTTPServer(interceptors: [interceptor]) { _ in .init(503) }
    let run = HTTPDataOperation(url, session: server.session).start()
    await interceptor.gate.waitForArrivals(1)
    run.cancel()
    #expect(await run.outcome.isCancelled)
    #expect(server.requests.count == (place == "sends" ? 0 : 1))
  }

  @Test func `N17: interceptors hold no connection while they wait`() async throws {
    let server = try LoopbackServer { request, connection in
      if request.path == "/login" { return connection.send(.init("token")) }
      connection.send(.init(401, "no", length: 100))
      connection.waitForClose()
    }
    var configuration = HTTPConfiguration()
    configuration.connectionsPerHost = 1
    let box = SessionBox()
    let login = LoginInterceptor(url: server.url("/login"), session: box)
    box.value = HTTPSession(configuration, interceptors: [login])
    defer { box.value = .shared }
    // The rest of the body does not arrive, so the connection is in use until the exchange ends.
    let fetch = HTTPDataOperation(
      server.url("/a"), options: .init(errorBodyLimit: 0), session: box.value)
    #expect((await fetch.run().error as? HTTPStatusError)?.status == 401)
    #expect(server.requests.map(\.path) == ["/a", "/login", "/a"])
  }

  @Test func `N17: the summary of a request for a log shows no secrets`() throws {
    let secret = try #require(URL(string: "https://me:s3cr3t@server/a?key=s3cr3t"))
    #expect("\(HTTPRequestSummary(URLRequest(url: secret)))" == "GET https://server/a?key=…")
  }
}

/// Texts in the order in which they were added.
final class Log: Sendable {
  private let state = Lock<[String]>([])

  var entries: [String] { state.withLock { $0 } }
  func add(_ entry: String) { state.withLock { $0.append(entry) } }
}

/// Adds its name to a header.
private struct LoggingInterceptor: HTTPInterceptor {
  private let name: String
  private let log: Log
  private let repeats: @Sendable (Int) -> Bool

  init(_ name: String, _ log: Log, repeats: @escaping @Sendable (Int) -> Bool) {
    (self.name, self.log, self.repeats) = (name, log, repeats)
  }

  func willSend(_ request: URLRequest) async throws -> URLRequest {
    log.add("\(name) sends")
    var request = request
    let order = request.value(forHTTPHeaderField: "X-Order") ?? ""
    request.setValue(order + name, forHTTPHeaderField: "X-Order")
    return request
  }

  func shouldSendAgain(
    _ request: URLRequest, after response: HTTPResponseHead, repetition: Int
  ) async throws -> Bool {
    log.add("\(name) asked \(repetition)")
    return repeats(repetition)
  }
}

private struct SecretForServer: HTTPInterceptor {
  func willSend(_ request: URLRequest) async throws -> URLRequest {
    guard request.url?.host == "server" else { return request }
    var request = request
    request.setValue("secret", forHTTPHeaderField: "X-Api-Key")
    return request
  }
}

struct ChangingInterceptor: HTTPInterceptor {
  let change: @Sendable (inout URLRequest) -> Void

  func willSend(_ request: URLRequest) async throws -> URLRequest {
    var request = request
    change(&request)
    return request
  }
}

private struct FailingInterceptor: HTTPInterceptor {
  enum Failure: Error { case sends, asked }

  func willSend(_ request: URLRequest) async throws -> URLRequest {
    if request.url?.path == "/unsent" { throw Failure.sends }
    return request
  }

  func shouldSendAgain(
    _ request: URLRequest, after response: HTTPResponseHead, repetition: Int
  ) async throws -> Bool { throw Failure.asked }
}

private struct WaitingInterceptor: HTTPInterceptor {
  let place: String
  let gate = Gate()

  func willSend(_ request: URLRequest) async throws -> URLRequest {
    if place == "sends" { try await gate.pass() }
    return request
  }

  func shouldSendAgain(
    _ request: URLRequest, after response: HTTPResponseHead, repetition: Int
  ) async throws -> Bool {
    try await gate.pass()
    return true
  }
}

/// Sends a request with the same session before a repetition.
private struct LoginInterceptor: HTTPInterceptor {
  let url: URL
  let session: SessionBox

  func shouldSendAgain(
    _ request: URLRequest, after response: HTTPResponseHead, repetition: Int
  ) async throws -> Bool {
    guard repetition == 1 else { return false }
    _ = try await HTTPDataOperation(url, session: session.value).run().get()
    return true
  }
}
