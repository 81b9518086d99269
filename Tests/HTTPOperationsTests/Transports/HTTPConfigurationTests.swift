import CompositeOperations
import Foundation
import HTTPOperations
import LoopbackServer
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(10))) struct HTTPConfigurationTests {
  @Test func `headers of a session are added to requests without them`() async throws {
    let server = try LoopbackServer(.init())
    var configuration = HTTPConfiguration()
    configuration.headers = ["X-One": "1", "X-Two": "2", "User-Agent": "me"]
    let session = HTTPSession(configuration)
    var request = URLRequest(url: server.url())
    request.setValue("its own", forHTTPHeaderField: "x-one")
    request.setValue("", forHTTPHeaderField: "X-Empty")
    request.setValue("7", forHTTPHeaderField: "Content-Length")
    _ = try await HTTPDataOperation(request, session: session).run().get()
    let sent = server.requests[0]
    #expect(sent["X-One"] == "its own" && sent["X-Two"] == "2" && sent["User-Agent"] == "me")
    #expect(sent.head.contains("\r\nX-Empty:"))
    // Determined by the body.
    #expect(sent["Content-Length"] == nil)
  }

  @Test(arguments: [
    ("X-A", "b\r\nX-C: d"), ("X-A", "b\nc"), ("X A", "b"), ("X-A:", "b"), ("", "b"),
  ])
  func `a header that would add lines to a request is an error`(
    name: String, value: String
  ) async throws {
    let server = try LoopbackServer(.init())
    var request = URLRequest(url: server.url())
    request.setValue(value, forHTTPHeaderField: name)
    let outcome = await HTTPDataOperation(request).run()
    // Foundation itself may drop such a header.
    if request.allHTTPHeaderFields?[name] == value {
      let error = try #require(outcome.error as? HTTPTransferError, "\(outcome)")
      guard case .badRequest = error.reason else { throw error }
      #expect(server.requests.isEmpty)
    }
    for sent in server.requests { #expect(sent["X-C"] == nil) }
  }

  @Test(arguments: ["a\r\nY: b", "a\n", "a\0b"])
  func `a header of a session with a line break is an error`(value: String) async throws {
    let server = try LoopbackServer(.init())
    var configuration = HTTPConfiguration()
    configuration.headers = ["Authorization": value]
    let fetch = HTTPDataOperation(server.url(), session: HTTPSession(configuration))
    let error = try #require(await fetch.run().error as? HTTPTransferError)
    #expect("\(error)".contains("its header \"Authorization\" has characters"), "\(error)")
    #expect(server.requests.isEmpty)
  }

  @Test func `a header line that is too long is an error that says so`() async throws {
    let line = "X-Long: \(String(repeating: "a", count: 150_000))"
    let server = try LoopbackServer(.init("answer", headers: [line]))
    let error = try #require(
      await HTTPDataOperation(server.url()).run().error as? HTTPTransferError)
    #expect(error.reason == .badAnswer)
    #expect("\(error)".contains("a line of its headers is larger than 100 KB"), "\(error)")
  }

  @Test(arguments: ["POST", "PUT", "PATCH", "DELETE", "GET"])
  func `a request without a body has a length only if its method expects one`(
    method: String
  ) async throws {
    let server = try LoopbackServer(.init("answer"))
    var request = URLRequest(url: server.url())
    request.httpMethod = method
    let response = try await HTTPDataOperation(request).run().get()
    #expect(response.body == Data("answer".utf8))
    #expect(server.requests.map(\.method) == [method])
    let expectsBody = ["POST", "PUT", "PATCH"].contains(method)
    #expect(server.requests[0]["Content-Length"] == (expectsBody ? "0" : nil))
  }

  @Test func `a request goes through the proxy of its session`() async throws {
    let proxy = try LoopbackServer(.init("from the proxy"))
    var configuration = HTTPConfiguration()
    configuration.proxy = .url(proxy.url())
    let session = HTTPSession(configuration)
    let url = try #require(URL(string: "http://nohost.invalid/a"))
    let response = try await HTTPDataOperation(url, session: session).run().get()
    #expect(response.body == Data("from the proxy".utf8))
    #expect(proxy.requests.map(\.path) == ["http://nohost.invalid/a"])
  }

  @Test(arguments: [403, 407, 503])
  func `a proxy that refuses to connect is an error`(status: Int) async throws {
    let proxy = try LoopbackServer(.init(status, "no"))
    var configuration = HTTPConfiguration()
    configuration.proxy = .url(proxy.url())
    let session = HTTPSession(configuration)
    let url = try #require(URL(string: "https://nohost.invalid/a"))
    let error = try #require(
      await HTTPDataOperation(url, session: session).run().error as? HTTPTransferError)
    let isTemporary = status == 503
    let problem = "the proxy 127.0.0.1:\(proxy.port) refused to connect, with status \(status)"
    #expect(error.reason == (isTemporary ? .cannotConnect : .badRequest(problem)), "\(error)")
    #expect(!error.wasSent && error.isRetryable == isTemporary)
    #expect(proxy.requests.map(\.method) == ["CONNECT"])
  }

  // In a child process, because the environment belongs to all tests.
  @Test func `the variables of the environment set the proxy, unless the session has none`() async {
    await #expect(processExitsWith: .success) {
      let proxy = try LoopbackServer(.init("from the proxy"))
      let server = try LoopbackServer(.init("from the server"))
      unsafe setenv("http_proxy", proxy.url().absoluteString, 1)
      unsafe unsetenv("no_proxy")
      unsafe unsetenv("NO_PROXY")
      let (system, none) = (HTTPConfiguration(), HTTPConfiguration.withoutProxy)
      let remote = try #require(URL(string: "http://nohost.invalid/"))
      for (configuration, url, text) in [
        (system, remote, "from the proxy"), (none, remote, nil),
        // Not even the system's proxy is used for a loopback address.
        (system, server.url(), "from the server"), (none, server.url(), "from the server"),
      ] {
        let outcome = await HTTPDataOperation(url, session: HTTPSession(configuration)).run()
        #expect(outcome.result?.body == text.map { Data($0.utf8) }, "\(outcome)")
      }
    }
  }

  @Test(.timeLimit(.minutes(10)))
  func `a request that waits for a connection does not time out`() async throws {
    let goesOn = DispatchSemaphore(value: 0)
    let server = try LoopbackServer { request, connection in
      // Longer than the timeout.
      if request.path == "/first" { _ = goesOn.wait(timeout: .now() + 11) }
      connection.send(.init("answer"))
    }
    var configuration = HTTPConfiguration()
    configuration.timeout = .seconds(10)
    configuration.connectionsPerHost = 1
    let session = HTTPSession(configuration)
    var request = URLRequest(url: server.url("/first"))
    request.timeoutInterval = 3_600
    async let first = HTTPDataOperation(request, session: session).run()
    await server.waitForRequests(1)
    let second = await HTTPDataOperation(server.url("/second"), session: session).run()
    #expect(second.result?.status == 200, "\(second)")
    #expect(await first.result?.status == 200)
  }

  @Test(.timeLimit(.minutes(10)))
  func `requests that wait for one host do not delay those to another`() async throws {
    let goesOn = DispatchSemaphore(value: 0)
    let busy = try LoopbackServer { _, connection in
      goesOn.wait()
      connection.send(.init("late"))
    }
    let server = try LoopbackServer(.init("answer"))
    var configuration = HTTPConfiguration()
    configuration.timeout = .seconds(3_600)
    configuration.connectionsPerHost = 1
    let session = HTTPSession(configuration)
    let waiting = (0..<5).map { _ in HTTPDataOperation(busy.url(), session: session).start() }
    await busy.waitForRequests(1)
    let fetch = HTTPDataOperation(server.url(), session: session)
    let others = await ParallelOperation((0..<20).map { _ in fetch }).run()
    #expect(others.result?.count == 20)
    // One that waits can be cancelled, and does not begin afterwards.
    waiting[4].cancel()
    #expect(await waiting[4].outcome.isCancelled)
    for _ in 0..<4 { goesOn.signal() }
    for run in waiting[..<4] { #expect(await run.outcome.result?.status == 200) }
    #expect(busy.requests.count == 4)
  }

  @Test func `a method that would add lines to a request is an error`() async throws {
    let server = try LoopbackServer(.init())
    var request = URLRequest(url: server.url())
    request.httpMethod = "GET / HTTP/1.1\r\nX: 1\r\nY:"
    let error = try #require(await HTTPDataOperation(request).run().error as? HTTPTransferError)
    #expect(error.reason == .badRequest("its method is not valid"))
    #expect(server.requests.isEmpty)
  }

  @Test func `a request for a part of a file is not compressed`() async throws {
    let server = try LoopbackServer(.init(206, "part"))
    var request = URLRequest(url: server.url())
    _ = try await HTTPDataOperation(request).run().get()
    request.setValue("bytes=0-3", forHTTPHeaderField: "Range")
    _ = try await HTTPDataOperation(request).run().get()
    let codings = ["gzip", "deflate"] + LibraryCoding.installed.map(\.rawValue)
    #expect(
      server.requests.map { $0["Accept-Encoding"] }
        == [codings.joined(separator: ", "), "identity"])
  }

  @Test func `an invalid proxy is an error without its password`() async throws {
    var configuration = HTTPConfiguration()
    configuration.proxy = .url(try #require(URL(string: "ftp://user:secret@127.0.0.1:1")))
    let url = try #require(URL(string: "http://nohost.invalid/"))
    let outcome = await HTTPDataOperation(url, session: HTTPSession(configuration)).run()
    let error = try #require(outcome.error as? HTTPTransferError, "\(outcome)")
    #expect(error.reason == .badRequest("the URL of the proxy is not valid"))
    #expect(!"\(error)".contains("secret"))
  }

  @Test func `the largest numbers are accepted`() async throws {
    let server = try LoopbackServer(.init("answer"))
    var configuration = HTTPConfiguration()
    configuration.timeout = .seconds(Int64.max)
    configuration.connectionsPerHost = .max
    configuration.headerLimit = .max
    let fetch = HTTPDataOperation(server.url(), session: HTTPSession(configuration))
    #expect(try await fetch.run().get().body == Data("answer".utf8))
  }

  @Test func `headers above the limit of a session are an error`() async throws {
    let server = try LoopbackServer(
      .init("answer", headers: ["X-Long: \(String(repeating: "a", count: 900))"]))
    var configuration = HTTPConfiguration()
    for (limit, isAccepted) in [(1_000, true), (900, false)] {
      configuration.headerLimit = limit
      let outcome = await HTTPDataOperation(
        server.url(), session: HTTPSession(configuration)
      ).run()
      #expect((outcome.result != nil) == isAccepted)
      guard let error = outcome.error as? HTTPTransferError else { continue }
      #expect(error.reason == .badAnswer && !error.isRetryable)
      #expect("\(error)".contains("its headers are larger than 900 bytes"))
    }
  }
}

extension HTTPConfiguration {
  fileprivate static var withoutProxy: HTTPConfiguration {
    var configuration = HTTPConfiguration()
    configuration.proxy = .none
    return configuration
  }
}
