import CompositeOperations
import Foundation
import HTTPOperations
import LoopbackServer
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(10))) struct RedirectTests {
  @Test(arguments: [301, 302, 303, 307, 308])
  func `a chain of redirects is followed, including relative addresses`(status: Int) async throws {
    let server = try LoopbackServer { request, connection in
      let host = request["Host"] ?? ""
      let locations = ["/a/b/1": "2", "/a/b/2": "../c?x=1", "/a/c?x=1": "//\(host)/end"]
      guard let location = locations[request.path] else { return connection.send(.init("arrived")) }
      connection.send(.init(status, headers: ["Location: \(location)"], "elsewhere"))
    }
    let response = try await HTTPDataOperation(server.url("/a/b/1")).run().get()
    #expect(response.body == Data("arrived".utf8))
    #expect(response.url == server.url("/end"))
    #expect(server.requests.map(\.path) == ["/a/b/1", "/a/b/2", "/a/c?x=1", "/end"])
  }

  @Test func `a redirect cycle is an error that lists the addresses`() async throws {
    let server = try LoopbackServer { request, connection in
      connection.send(.init(302, headers: ["Location: \(request.path == "/a" ? "/b" : "/a")"]))
    }
    let fetch = HTTPDataOperation(
      server.url("/a"), options: .init(redirects: .followed(atMost: 5)))
    let error = try #require(await fetch.run().error as? HTTPRedirectError)
    #expect(error.reason == .tooMany(limit: 5))
    #expect(server.requests.count == 6)
    #expect(
      error.addresses.prefix(2) == [
        server.url("/a").absoluteString, server.url("/b").absoluteString,
      ])
    #expect(error.description.contains("more than 5 times"))
  }

  @Test func `a redirect response is the result if redirects are not followed`() async throws {
    let server = try LoopbackServer(.init(302, headers: ["Location: /b"], "elsewhere"))
    let fetch = HTTPDataOperation(server.url("/a"), options: .init(redirects: .notFollowed))
    let response = try await fetch.run().get()
    #expect(response.status == 302)
    #expect(response.headers["location"] == "/b")
    #expect(server.requests.count == 1)
  }

  @Test(arguments: [[], ["Location: ftp://host/a"], ["Location: http://"]])
  func `a redirect without a valid address is an error`(headers: [String]) async throws {
    let server = try LoopbackServer(.init(302, headers: headers))
    let error = try #require(
      await HTTPDataOperation(server.url()).run().error as? HTTPRedirectError)
    guard case .badLocation = error.reason else { throw error }
  }

  @Test(arguments: [
    (301, "GET", ""), (302, "GET", ""), (303, "GET", ""), (307, "POST", "body"),
    (308, "POST", "body"),
  ])
  func `a redirected POST has the method and the body that RFC 9110 specifies`(
    status: Int, method: String, body: String
  )
    async throws
  {
    let server = try LoopbackServer(.init(status, headers: ["Location: /b"]), .init())
    var request = URLRequest(url: server.url("/a"))
    request.httpMethod = "POST"
    request.httpBody = Data("body".utf8)
    _ = try await HTTPDataOperation(request).run().get()
    #expect(server.requests.map(\.method) == ["POST", method])
    #expect(String(decoding: server.requests[1].body, as: UTF8.self) == body)
  }

  @Test func `N4: credentials of a request are not sent to another server`() async throws {
    let other = try LoopbackServer(.init("other"))
    let server = try LoopbackServer(
      .init(302, headers: ["Location: /here"]),
      .init(302, headers: ["Location: \(other.url("/there"))"]))
    var request = URLRequest(url: server.url())
    request.setValue("Bearer secret", forHTTPHeaderField: "Authorization")
    request.setValue("kept", forHTTPHeaderField: "X-Other")
    request.setValue("here.invalid", forHTTPHeaderField: "Host")
    _ = try await HTTPDataOperation(request).run().get()
    #expect(server.requests.map { $0["Authorization"] } == ["Bearer secret", "Bearer secret"])
    #expect(other.requests.map { $0["Authorization"] } == [nil])
    #expect(other.requests.map { $0["X-Other"] } == ["kept"])
    #expect(server.requests.map { $0["Host"] } == ["here.invalid", "here.invalid"])
    #expect(other.requests.map { $0["Host"] } == ["127.0.0.1:\(other.port)"])
  }

  @Test(arguments: ["Authorization", "cookie", "Proxy-Authorization"])
  func `N4: credentials of a session are not sent to another server`(name: String) async throws {
    let other = try LoopbackServer(.init("other"))
    let server = try LoopbackServer(
      .init(302, headers: ["Location: /here"]),
      .init(302, headers: ["Location: \(other.url("/there"))"]), .init())
    var configuration = HTTPConfiguration()
    configuration.headers = [name: "secret", "X-Other": "kept"]
    let session = HTTPSession(configuration)
    _ = try await HTTPDataOperation(server.url(), session: session).run().get()
    #expect(server.requests.map { $0[name] } == ["secret", "secret"])
    #expect(other.requests.map { $0[name] } == [nil])
    #expect(other.requests.map { $0["X-Other"] } == ["kept"])
    var request = URLRequest(url: server.url())
    request.setValue("its own", forHTTPHeaderField: name)
    _ = try await HTTPDataOperation(request, session: session).run().get()
    #expect(server.requests.last?[name] == "its own")
  }

  @Test func `errors name the server that a request was redirected to`() async throws {
    let port = try LoopbackServer.unusedPort()
    let other = try LoopbackServer(.init(404, "no"), .init("[1"))
    let waiters = [
      "http://127.0.0.1:\(port)/a?key=secret", "\(other.url("/b"))", "\(other.url("/c"))",
    ]
    let server = try LoopbackServer { request, connection in
      connection.send(.init(302, headers: ["Location: \(waiters[request.number])"]))
    }
    let fetch = HTTPDataOperation(server.url("/a")).decoding([Int].self)
    let shown = ["http://127.0.0.1:\(port)/a?key=…"] + waiters.dropFirst()
    let texts = [
      "failed: cannot connect to 127.0.0.1", "failed with status 404", "cannot decode Array",
    ]
    for (place, text) in zip(shown, texts) {
      let description = try #require(await fetch.run().error.map { "\($0)" })
      #expect(description.hasPrefix("GET \(server.url("/a")) (redirected to \(place))"))
      #expect(description.contains(text), "\(description)")
    }
  }
}
