import CompositeOperations
import Foundation
import HTTPServing
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct ServingTests {
  @Test func `a handler sees the parts of a request`() async throws {
    let seen = Lock<HTTPRequest?>(nil)
    try await ServerFixture.with { request in
      seen.withLock { $0 = request }
      return HTTPResponse(.text, "made", status: 201)
    } _: { server in
      let response = await exchange(
        server.port,
        message(
          "GET /runs/a%20b?state=failed&q=1%2B1+x&empty HTTP/1.1", to: server.name,
          "X-Name: Value", "Cookie: a=1; b=2"))
      #expect(response?.hasPrefix("HTTP/1.1 201 Created\r\n") == true)
      #expect(body(of: response) == "made")
    }
    let request = try #require(seen.withLock { $0 })
    #expect(request.method == "GET")
    #expect(request.path == "/runs/a b")
    #expect(request.queryValue("state") == "failed")
    #expect(request.queryValue("q") == "1+1 x")
    #expect(request.queryValue("empty")?.isEmpty == true)
    #expect(request.queryValue("other") == nil)
    #expect(request.headers["x-name"] == "Value")
    #expect(request.headers.cookie(named: "b") == "2")
    #expect(request.headers.cookie(named: "c") == nil)
    #expect(request.peer == "127.0.0.1")
    #expect(request.body.isEmpty)
  }

  @Test func `HEAD has the header of GET without its body`() async throws {
    try await ServerFixture.with { request in
      HTTPResponse(.text, "method \(request.method)")
    } _: { server in
      let get = await exchange(server.port, message(to: server.name))
      let head = await exchange(server.port, message("HEAD / HTTP/1.1", to: server.name))
      #expect(body(of: get) == "method GET")
      #expect(status(of: head) == 200)
      #expect(body(of: head)?.isEmpty == true)
      #expect(head?.contains("Content-Length: 10\r\n") == true)
    }
  }

  @Test(arguments: ["Content-Length", "Transfer-Encoding"])
  func `a body arrives completely`(framing: String) async throws {
    let bytes = String(decoding: someBytes(300_000).map { $0 & 0x3F + 0x20 }, as: UTF8.self)
    let token = "0123456789abcdef"
    try await ServerFixture.with(token: token) { request in
      HTTPResponse(.text, request.body)
    } _: { server in
      let field =
        framing == "Content-Length" ? "Content-Length: \(bytes.utf8.count)" : "\(framing): chunked"
      let payload =
        framing == "Content-Length"
        ? bytes
        : "\(String(bytes.utf8.count, radix: 16))\r\n\(bytes)\r\n0\r\n\r\n"
      let response = await exchange(
        server.port,
        message(
          "POST / HTTP/1.1", to: server.name, "Authorization: Bearer \(token)", field, body: payload
        ))
      #expect(body(of: response) == bytes)
    }
  }

  @Test func `a connection serves requests one after another, and pipelined ones in order`()
    async throws
  {
    try await ServerFixture.with {
      HTTPResponse(.text, $0.path)
    } _: { server in
      let host = "Host: \(server.name)"
      let text = await onNewThread { () -> String? in
        guard let client = try? RawClient(server.port) else { return nil }
        client.send("GET /1 HTTP/1.1\r\n\(host)\r\n\r\n")
        guard let first = client.receive(until: "/1") else { return nil }
        client.send("GET /2 HTTP/1.1\r\n\(host)\r\n\r\nGET /3 HTTP/1.1\r\n\(host)\r\n\r\n")
        client.send(message("GET /4 HTTP/1.1", to: server.name))
        return client.receiveAll().map { first + $0 }
      }
      let responses = try #require(text).components(separatedBy: "HTTP/1.1 200 OK").dropFirst()
      #expect(responses.map { $0.suffix(2) } == ["/1", "/2", "/3", "/4"])
    }
  }

  @Test func `A5: every response has the fields that protect it`() async throws {
    let nonces = Lock<[String]>([])
    try await ServerFixture.with { request in
      nonces.withLock { $0.append(request.nonce) }
      return HTTPResponse(.html, "<!DOCTYPE html>")
    } _: { server in
      let good = await exchange(server.port, message(to: server.name))
      let refused = await exchange(server.port, message("GET /%zz HTTP/1.1", to: server.name))
      #expect(status(of: refused) == 400)
      for response in [good, refused] {
        let text = try #require(response)
        for field in [
          "Content-Security-Policy: default-src 'none'; script-src 'nonce-",
          "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'\r\n",
          "X-Content-Type-Options: nosniff\r\n", "Referrer-Policy: same-origin\r\n",
          "Cache-Control: no-store\r\n", "Cross-Origin-Opener-Policy: same-origin\r\n",
          "Cross-Origin-Resource-Policy: same-origin\r\n",
        ] { #expect(text.contains(field), "\(field)") }
      }
      #expect(good?.contains("'nonce-\(nonces.withLock { $0[0] })'") == true)
      _ = await exchange(server.port, message(to: server.name))
    }
    #expect(Set(nonces.withLock(\.self)).count == 2)
  }

  @Test func `A5: a redirect stays on the server`() async throws {
    try await ServerFixture.with { _ in
      .redirect(to: "//evil.example/ä\r\nX: y")
    } _: { server in
      let response = await exchange(server.port, message(to: server.name))
      #expect(response?.contains("Location: /evil.example/%C3%A4%0D%0AX%3A%20y\r\n") == true)
    }
  }

  @Test func `A1: the login form exchanges the token for a cookie`() async throws {
    let token = "a token of this test"
    try await ServerFixture.with(token: token) { _ in
      HTTPResponse(.text, "inside")
    } _: { server in
      let outside = await exchange(server.port, message(to: server.name))
      #expect(status(of: outside) == 401)
      #expect(outside?.contains("<form method=\"post\" action=\"/login\">") == true)
      let program = await exchange(
        server.port, message(to: server.name, "Accept: application/json"))
      #expect(status(of: program) == 401)
      #expect(body(of: program) == "The request needs the token of the server.\n")
      let origin = "Origin: http://\(server.name)"
      let type = "Content-Type: application/x-www-form-urlencoded"
      for (text, expected) in [("wrong", 401), (token.replacing(" ", with: "+"), 303)] {
        let form = "token=\(text)"
        let response = await exchange(
          server.port,
          message(
            "POST /login HTTP/1.1", to: server.name, origin, type,
            "Content-Length: \(form.utf8.count)", body: form))
        #expect(status(of: response) == expected)
        guard expected == 303 else { continue }
        let cookie = try #require(
          response?.firstMatch(
            of: /Set-Cookie: (session-\d+=[0-9a-f]{64}); Path=\/; HttpOnly; SameSite=Strict\r\n/))
        let inside = await exchange(
          server.port, message(to: server.name, "Cookie: \(cookie.1)"))
        #expect(body(of: inside) == "inside")
      }
    }
  }

  @Test(arguments: [
    ("/run?id=a%2Fb&x=1+2", "/run?id=a%2Fb&x=1+2"), ("/", "/"), ("/?text=%22%3E", "/?text=%22%3E"),
    ("//evil.example", "/"), ("///evil.example", "/"), ("/\\evil.example", "/"),
    ("/x/\\evil.example", "/"), ("/%5Cevil.example", "/%5Cevil.example"),
    ("/%2Fevil.example", "/%2Fevil.example"),
  ])
  func `A1: the login form returns to the address that was asked for`(
    asked: String, expected: String
  ) async throws {
    let token = "0123456789abcdef"
    try await ServerFixture.with(token: token) { server in
      let page = await exchange(server.port, message("GET \(asked) HTTP/1.1", to: server.name))
      #expect(status(of: page) == 401)
      let action = try #require(page?.firstMatch(of: /action="(\/login[A-Za-z0-9?=%._~-]*)"/)?.1)
      // A wrong token keeps the address.
      let again = await login(server, String(action), "wrong")
      #expect(status(of: again) == 401)
      #expect(again?.contains("action=\"\(action)\"") == true)
      let response = await login(server, String(action), token)
      #expect(response?.contains("\r\nLocation: \(expected)\r\n") == true, "\(response ?? "")")
    }
  }

  @Test(arguments: [
    "//evil.example", "%2F%2Fevil.example", "%252F%252Fevil.example", "/%2Fevil.example",
    "/\\evil.example", "%5C%5Cevil.example", "/%5Cevil.example", "https://evil.example",
    "https:evil.example", "javascript:alert(1)", "evil.example", "", "/login", "/login?to=%2F",
    "/%0D%0ALocation:%20https://evil.example", "/%0A", "/%09/evil.example", "/%20", "/%C3%A4",
    "/a%23b",
    "/../evil", "/.%5Cevil",
  ])
  func `A1: the login form returns to no other server`(target: String) async throws {
    let token = "0123456789abcdef"
    try await ServerFixture.with(token: token) { server in
      let response = try #require(await login(server, "/login?to=\(target)", token))
      #expect(response.hasPrefix("HTTP/1.1 303 See Other\r\n"))
      #expect(response.contains("\r\nLocation: /\r\n"), "\(response)")
      #expect(!response.contains("evil"))
    }
  }

  @Test func `A1: a browser with a session that opens the login form is redirected`() async throws {
    let token = "0123456789abcdef"
    try await ServerFixture.with(token: token) { server in
      let line = "GET /login?to=%2Frun%3Fid%3D1 HTTP/1.1"
      let outside = await exchange(server.port, message(line, to: server.name))
      #expect(outside?.contains(#"action="/login?to=%2Frun%3Fid%3D1""#) == true)
      let inside = await exchange(
        server.port, message(line, to: server.name, "Authorization: Bearer \(token)"))
      #expect(status(of: inside) == 303)
      #expect(inside?.contains("\r\nLocation: /run?id=1\r\n") == true)
    }
  }

  @Test func `A12: a link with the token opens the page, and loses the token`() async throws {
    let token = "0123456789abcdef"
    try await ServerFixture.with(token: token) { server in
      for (query, rest) in [("?token=", ""), ("?id=a%2Fb&token=", "?id=a%2Fb")] {
        let opened = await exchange(
          server.port, message("GET /run\(query)\(token) HTTP/1.1", to: server.name))
        #expect(status(of: opened) == 303)
        #expect(opened?.contains("\r\nLocation: /run\(rest)\r\n") == true, "\(opened ?? "")")
        let cookie = try #require(
          opened?.firstMatch(of: /Set-Cookie: (session-[^;]+); Path=\/; HttpOnly/))
        let read = await exchange(
          server.port, message("GET /run HTTP/1.1", to: server.name, "Cookie: \(cookie.1)"))
        #expect(body(of: read) == "ok")
      }
      let wrong = await exchange(
        server.port, message("GET /?token=0123456789abcdeg HTTP/1.1", to: server.name))
      #expect(status(of: wrong) == 401)
      // A form of another page could have the token of a link that it knows.
      let act = await exchange(
        server.port,
        message(
          "POST /?token=\(token) HTTP/1.1", to: server.name,
          "Origin: http://\(server.name)"))
      #expect(status(of: act) == 401)
    }
  }

  /// Sends the login form.
  private func login(_ server: ServerFixture, _ path: String, _ token: String) async -> String? {
    let form = "token=\(token)"
    return await exchange(
      server.port,
      message(
        "POST \(path) HTTP/1.1", to: server.name, "Origin: http://\(server.name)",
        "Content-Type: application/x-www-form-urlencoded", "Content-Length: \(form.utf8.count)",
        body: form))
  }

  @Test func `A2: a method that an address does not take is refused with those that it takes`()
    async throws
  {
    let token = "0123456789abcdef"
    let methods: RequestGuard.Methods = { ["/": ["GET"], "/act": ["POST"]][$0] }
    for token in [nil, token] {
      let server = try await ServerFixture.start(token: token, methods: methods) { request in
        HTTPResponse(.text, request.method)
      }
      let bearer = token.map { "Authorization: Bearer \($0)" } ?? "X: y"
      for (line, expected, allowed) in [
        ("POST /", 405, "GET, HEAD"), ("DELETE /", 405, "GET, HEAD"), ("GET /act", 405, "POST"),
        ("HEAD /act", 405, "POST"), ("OPTIONS /act", 405, "POST"), ("TRACE /", 405, "GET, HEAD"),
        ("OPTIONS *", 405, "GET, HEAD, POST, PUT, PATCH, DELETE"), ("HEAD /", 200, nil),
        ("BREW /", 501, nil),
      ] as [(String, Int, String?)] {
        let response = await exchange(
          server.port, message("\(line) HTTP/1.1", to: server.name, bearer))
        #expect(status(of: response) == expected, "\(line)")
        let field = response?.firstMatch(of: /\r\nAllow: ([^\r]*)/)?.1
        #expect(field.map(String.init) == allowed, "\(line)")
      }
      // The response to another origin does not reveal the methods.
      let acted = await exchange(server.port, message("POST /act HTTP/1.1", to: server.name))
      #expect(status(of: acted) == 403)
      if token != nil {
        for (line, expected) in [("POST /", 403), ("GET /act", 401), ("GET /", 401)] {
          let response = await exchange(
            server.port, message("\(line) HTTP/1.1", to: server.name))
          #expect(status(of: response) == expected && response?.contains("\r\nAllow") == false)
        }
      }
      await server.stop()
    }
  }

  @Test func `A1: a server on all addresses has the name of its host, and an address to open`()
    async throws
  {
    let token = "0123456789abcdef"
    let server = try await ServerFixture.start(at: "0.0.0.0:0", token: token) { _ in
      HTTPResponse(.text, "ok")
    }
    let name = try #require(ServerAddress.hostName)
    let open = server.address.reachable
    #expect(open.host != "0.0.0.0" && open.port == server.port)
    for (host, expected) in [
      (name, 200), (name.uppercased(), 200), (open.host, 200), ("localhost", 200),
      ("not-\(name)", 421), ("\(name).evil.example", 421),
    ] {
      let response = await exchange(
        server.port, message(to: "\(host):\(server.port)", "Authorization: Bearer \(token)"))
      #expect(status(of: response) == expected, "\(host)")
    }
    await server.stop()
    #expect(try ServerAddress("[::]:80").reachable.host != "::")
    #expect(try ServerAddress("127.0.0.1:80").reachable == ServerAddress("127.0.0.1:80"))
  }

  @Test func `a form with the server's secret is accepted`() async throws {
    try await ServerFixture.with { request in
      HTTPResponse(
        .text, request.method == "POST" ? request.form?.last?.value ?? "" : request.formSecret)
    } _: { server in
      let secret = try #require(body(of: await exchange(server.port, message(to: server.name))))
      let type = "Content-Type: application/x-www-form-urlencoded"
      for (origin, expected) in [
        ("Origin: http://\(server.name)", 200),
        ("Origin: null\r\nSec-Fetch-Site: same-origin", 200),
        ("Origin: null\r\nSec-Fetch-Site: cross-site", 403), ("Origin: http://evil.example", 403),
      ] {
        let form = "\(RequestGuard.formField)=\(secret)&run=a%26b"
        let response = await exchange(
          server.port,
          message(
            "POST / HTTP/1.1", to: server.name, origin, type,
            "Content-Length: \(form.utf8.count)", body: form))
        #expect(status(of: response) == expected, "\(origin)")
        if expected == 200 { #expect(body(of: response) == "a&b") }
      }
    }
  }

  @Test func `a port in use is an error with advice`() async throws {
    try await ServerFixture.with { server in
      let outcome = await ServeHTTP(at: server.address) { _ in HTTPResponse(.text, "") }.run()
      let error = try #require(outcome.error as? HTTPServingError)
      #expect(error == .cannotListen(server.address, code: EADDRINUSE))
      #expect("\(error)".hasPrefix("cannot listen on \(server.name): Address already in use; "))
    }
  }

  @Test func `the advice is to try again only if the same address can be used later`() throws {
    let address = try ServerAddress("127.0.0.1:8080")
    for (code, canHelp) in [(ENOMEM, true), (EAGAIN, true), (EINVAL, false), (ENOTSUP, false)] {
      let error = HTTPServingError.cannotListen(address, code: code)
      #expect("\(error)".hasSuffix("use another address"))
      #expect("\(error)".contains("try again") == canHelp, "\(error)")
    }
  }

  @Test func `A1: an address that other hosts reach needs a long token`() async throws {
    let address = try ServerAddress("0.0.0.0:0")
    let without = await ServeHTTP(at: address) { _ in HTTPResponse(.text, "") }.run()
    #expect(without.error as? HTTPServingError == .tokenRequired(address))
    let short = await ServeHTTP(at: address, token: "short") { _ in HTTPResponse(.text, "") }.run()
    #expect(short.error as? HTTPServingError == .shortToken(count: 5, minimum: 16))
    let server = try await ServerFixture.start(at: "0.0.0.0:0", token: "0123456789abcdef") { _ in
      HTTPResponse(.text, "ok")
    }
    let response = await exchange(
      server.port,
      message(to: "127.0.0.1:\(server.port)", "Authorization: Bearer 0123456789abcdef"))
    #expect(body(of: response) == "ok")
    await server.stop()
  }

  @Test func `a server on an IPv6 address serves it`() async throws {
    let server = try await ServerFixture.start(at: "[::1]:0") { HTTPResponse(.text, $0.peer) }
    let response = await exchange(
      server.port, isIPv6: true, message(to: "[::1]:\(server.port)"))
    #expect(body(of: response) == "::1")
    await server.stop()
  }
}
