import CompositeOperations
import Foundation
import HTTPOperations
import LoopbackServer
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Cookies, of a server that is a proxy for all hosts.
@Suite(.timeLimit(.minutes(10))) struct CookieTests {
  /// Sets the cookies in the query of a request, which are separated by `|`. The path
  /// `/redirect/HOST` redirects.
  private static func server() throws -> LoopbackServer {
    try LoopbackServer { request, connection in
      let query = request.path.split(separator: "?").dropFirst().first ?? ""
      let cookies = (String(query).removingPercentEncoding ?? "").split(separator: "|")
      var headers = cookies.map { "Set-Cookie: \($0)" }
      let path = request.path.split(separator: "?").first ?? ""
      guard let range = path.range(of: "/redirect/") else {
        return connection.send(.init(200, headers: headers))
      }
      headers.append("Location: http://\(path[range.upperBound...])/")
      connection.send(.init(302, headers: headers))
    }
  }

  private static func session(_ server: LoopbackServer, keepsCookies: Bool = true) -> HTTPSession {
    var configuration = HTTPConfiguration()
    configuration.keepsCookies = keepsCookies
    configuration.proxy = .url(server.url())
    configuration.timeout = .seconds(3_600)
    return HTTPSession(configuration)
  }

  /// Requests an address.
  ///
  /// - Parameters:
  ///   - cookies: What the server sets.
  ///   - own: The `Cookie` of the request.
  private static func get(
    _ address: String, setting cookies: String..., own: String? = nil, in session: HTTPSession
  ) async throws {
    var parts = try #require(URLComponents(string: "http://\(address)"))
    if !cookies.isEmpty { parts.query = cookies.joined(separator: "|") }
    var request = URLRequest(url: try #require(parts.url))
    if let own { request.setValue(own, forHTTPHeaderField: "Cookie") }
    _ = try await HTTPDataOperation(request, session: session).run().get()
  }

  /// The cookies that the last request had.
  private static func sent(to server: LoopbackServer) -> Set<String> {
    Set((server.requests.last?["Cookie"] ?? "").components(separatedBy: "; ")).subtracting([""])
  }

  @Test func `N20: cookies are ignored by default, and kept if the session keeps them`()
    async throws
  {
    #expect(!HTTPConfiguration().keepsCookies)
    let server = try Self.server()
    for (keepsCookies, kept) in [(false, []), (true, ["a=1", "b=2"])] as [(Bool, Set<String>)] {
      let session = Self.session(server, keepsCookies: keepsCookies)
      try await Self.get("shop.example/", setting: "a=1", "b=2; HttpOnly", in: session)
      #expect(server.requests.last?["Cookie"] == nil)
      try await Self.get("shop.example/", in: session)
      #expect(Self.sent(to: server) == kept)
      // Another session has its own.
      try await Self.get("shop.example/", in: Self.session(server, keepsCookies: keepsCookies))
      #expect(server.requests.last?["Cookie"] == nil)
    }
  }

  @Test func `N20: a cookie is sent to the domain and the paths that it is for`() async throws {
    let server = try Self.server()
    let session = Self.session(server)
    try await Self.get(
      "www.shop.example/a/b", setting: "host=1", "domain=2; Domain=shop.example", "path=3; Path=/a",
      "root=4; Path=/", "other=5; Domain=other.example", "secure=6; Secure", "__Host-x=7; Path=/",
      in: session)
    for (address, expected) in [
      ("www.shop.example/a/b", ["host=1", "domain=2", "path=3", "root=4"]),
      ("www.shop.example/a/bc/d", ["host=1", "domain=2", "path=3", "root=4"]),
      ("www.shop.example/ab", ["root=4"]), ("shop.example/a/b", ["domain=2"]),
      ("evilshop.example/a/b", []), ("other.example/a/b", []),
    ] as [(String, Set<String>)] {
      try await Self.get(address, in: session)
      #expect(Self.sent(to: server) == expected, "\(address)")
    }
  }

  @Test func `N20: a cookie that has expired is not sent`() async throws {
    let server = try Self.server()
    let session = Self.session(server)
    try await Self.get(
      "shop.example/", setting: "a=1", "b=2", "c=3; Max-Age=3600",
      "d=4; Expires=Thu, 01 Jan 1970 00:00:01 GMT", "e=5; Expires=Fri, 01 Jan 2100 00:00:00 GMT",
      in: session)
    try await Self.get("shop.example/", setting: "a=1; Max-Age=0", "c=6", in: session)
    try await Self.get("shop.example/", in: session)
    #expect(Self.sent(to: server) == ["b=2", "c=6", "e=5"])
  }

  @Test(arguments: [("shop.co.uk", "co.uk"), ("example.com", "com"), ("me.github.io", "github.io")])
  func `N20: a cookie for a public suffix is refused`(host: String, suffix: String) async throws {
    let server = try Self.server()
    let session = Self.session(server)
    try await Self.get(
      "\(host)/", setting: "a=1; Domain=\(suffix)", "b=2; Domain=\(host)", in: session)
    try await Self.get("\(host)/", in: session)
    #expect(Self.sent(to: server) == ["b=2"])
    try await Self.get("other.\(suffix)/", in: session)
    #expect(Self.sent(to: server) == [])
  }

  @Test func `N20: a cookie of a redirect is sent with the next request, also by many at once`()
    async throws
  {
    let server = try Self.server()
    let session = Self.session(server)
    try await Self.get(
      "shop.example/redirect/shop.example", setting: "a=1; Path=/", own: "own=0", in: session)
    #expect(server.requests.count == 2)
    #expect(Self.sent(to: server) == ["a=1", "own=0"])
    let url = try #require(URL(string: "http://shop.example/"))
    let fetch = HTTPDataOperation(url, session: session)
    _ = try await ParallelOperation((0..<20).map { _ in fetch }).run().get()
    #expect(server.requests.dropFirst(2).map { $0["Cookie"] } == Array(repeating: "a=1", count: 20))
  }

  @Test func `N20: a Cookie of a request is sent in one header with those of the session`()
    async throws
  {
    let server = try Self.server()
    let session = Self.session(server)
    try await Self.get("shop.example/", setting: "a=1", own: "own=0", in: session)
    #expect(server.requests.last?["Cookie"] == "own=0")
    try await Self.get("shop.example/", own: "own=0; other=2", in: session)
    #expect(server.requests.last?["Cookie"] == "a=1; own=0; other=2")
    #expect(server.requests.last?.head.components(separatedBy: "\r\nCookie:").count == 2)
  }

  @Test
  func `N20: cookies for loopback addresses may be Secure, and those of addresses are theirs`()
    async throws
  {
    let server = try Self.server()
    let session = Self.session(server)
    let address = "127.0.0.1:\(server.port)/"
    try await Self.get(
      address, setting: "own=1; Secure", "whole=2; Domain=127.0.0.1", "part=3; Domain=0.0.1",
      in: session)
    try await Self.get(address, in: session)
    #expect(Self.sent(to: server) == ["own=1", "whole=2"])
    // It was not sent to a proxy, unlike the next one.
    #expect(server.requests.last?.path == "/")
    try await Self.get("198.0.0.1/", in: session)
    #expect(Self.sent(to: server) == [])
    #expect(server.requests.last?.path == "http://198.0.0.1/")
  }

  @Test func `N20: a redirect to another host takes no cookies there`() async throws {
    let server = try Self.server()
    let session = Self.session(server)
    try await Self.get(
      "shop.example/redirect/other.example", setting: "a=1; Path=/", own: "own=0", in: session)
    #expect(server.requests.map { $0["Host"] } == ["shop.example", "other.example"])
    #expect(server.requests.map { $0["Cookie"] } == ["own=0", nil])
    try await Self.get("other.example/redirect/shop.example", setting: "b=2", in: session)
    #expect(Self.sent(to: server) == ["a=1"])
  }

  @Test func `N20: no text of a session, a response or an error shows a cookie`() async throws {
    let server = try LoopbackServer { request, connection in
      connection.send(.init(request.number == 2 ? 500 : 200, headers: ["Set-Cookie: a=s3cret"]))
    }
    let session = Self.session(server)
    let url = try #require(URL(string: "http://shop.example/"))
    let fetch = HTTPDataOperation(url, session: session)
    var texts: [String] = []
    func show(_ value: some Any) {
      var text = "\(value) \(String(reflecting: value))"
      dump(value, to: &text)
      texts.append(text)
    }
    show(session)
    show(fetch)
    show(try await fetch.run().get())
    show(try await fetch.run().get())
    show(try #require(await fetch.run().error))
    #expect(server.requests.map { $0["Cookie"] } == [nil, "a=s3cret", "a=s3cret"])
    for text in texts { #expect(!text.contains("s3cret"), "\(text)") }
  }
}
