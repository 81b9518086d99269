import HTTPServing
import Testing

@Suite(.timeLimit(.minutes(10))) struct RequestGuardTests {
  private static let token = "0123456789abcdef"

  private func guardian(
    _ address: String = "127.0.0.1:8080", names: [String] = [], token: String? = nil,
    users: Set<UInt32>? = nil, publicOrigin: PublicOrigin? = nil
  ) throws -> RequestGuard {
    try RequestGuard(
      address: try ServerAddress(address), names: names,
      secrets: ServerSecrets(token: token), users: users, publicOrigin: publicOrigin)
  }

  private func head(
    _ method: String = "GET", _ path: String = "/", _ fields: (name: String, value: String)...
  ) throws -> RequestHead {
    try RequestHead(
      method: method, target: path.utf8, version: "HTTP/1.1", headers: RequestHeaders(fields))
  }

  @Test(arguments: [
    ("127.0.0.1:8080", "127.0.0.1:8080", true), ("127.0.0.1:8080", "localhost:8080", true),
    ("127.0.0.1:8080", "LocalHost:8080", true), ("127.0.0.1:8080", "[::1]:8080", true),
    ("127.0.0.1:8080", "runs.example:8080", true), ("127.0.0.1:8080", "evil.example:8080", false),
    ("127.0.0.1:8080", "127.0.0.1", false), ("127.0.0.1:8080", "127.0.0.1:80", false),
    ("127.0.0.1:8080", "192.0.2.1:8080", false), ("127.0.0.1:80", "127.0.0.1", true),
    ("127.0.0.1:80", "127.0.0.1:80", true), ("[::1]:8080", "[::1]:8080", true),
    ("[0::1]:8080", "[::1]:8080", true), ("[::1]:8080", "::1:8080", false),
    ("0.0.0.0:8080", "192.0.2.1:8080", true), ("0.0.0.0:8080", "[2001:db8::1]:8080", true),
    ("0.0.0.0:8080", "evil.example:8080", false), ("192.0.2.1:8080", "192.0.2.1:8080", true),
    ("192.0.2.1:8080", "localhost:8080", false), ("192.0.2.1:8080", "192.0.2.2:8080", false),
  ])
  func `A1: the host must be a name of the server`(
    address: String, host: String, isAccepted: Bool
  ) throws {
    let guardian = try guardian(address, names: ["runs.example"], token: Self.token)
    let head = try head("GET", "/", ("Host", host), ("Authorization", "Bearer \(Self.token)"))
    #expect(guardian.refusal(of: head)?.status == (isAccepted ? nil : 421))
  }

  @Test(
    arguments: [
      ("http://127.0.0.1:8080", nil, nil), ("http://127.0.0.1:8080", "cross-site", nil),
      ("null", "same-origin", nil), (nil, "same-origin", nil),
      ("null", nil, 403), ("null", "none", 403), ("null", "cross-site", 403), (nil, nil, 403),
      (nil, "same-site", 403), (nil, "cross-site", 403), (nil, "none", 403),
      ("http://localhost:8080", nil, 403), ("http://127.0.0.1", nil, 403),
      ("https://127.0.0.1:8080", nil, 403), ("http://evil.example", "same-origin", 403),
    ] as [(String?, String?, Int?)])
  func `A1: a request that changes something comes from the server's own page`(
    origin: String?, site: String?, status: Int?
  ) throws {
    let guardian = try guardian()
    for method in ["POST", "PUT", "PATCH", "DELETE"] {
      var fields = [(name: "Host", value: "127.0.0.1:8080")]
      if let origin { fields.append(("Origin", origin)) }
      if let site { fields.append(("Sec-Fetch-Site", site)) }
      let head = try RequestHead(
        method: method, target: "/".utf8, version: "HTTP/1.1", headers: RequestHeaders(fields))
      #expect(guardian.refusal(of: head)?.status == status)
    }
    #expect(guardian.refusal(of: try head("GET", "/", ("Host", "127.0.0.1:8080"))) == nil)
  }

  @Test func `A1: a bearer token takes the place of the origin and of the form's secret`() throws {
    let guardian = try guardian(token: Self.token)
    let good = try head(
      "POST", "/", ("Host", "127.0.0.1:8080"), ("Authorization", "Bearer \(Self.token)"))
    #expect(guardian.refusal(of: good) == nil)
    #expect(guardian.refusal(of: good, body: []) == nil)
    // A wrong origin is refused in any case.
    let other = try head(
      "POST", "/", ("Host", "127.0.0.1:8080"), ("Authorization", "Bearer \(Self.token)"),
      ("Origin", "http://evil.example"))
    #expect(guardian.refusal(of: other)?.status == 403)
  }

  @Test func `A1: the session cookie replaces the token, but not the form's secret`() throws {
    let guardian = try guardian(token: Self.token)
    let cookie = "\(guardian.cookieName)=\(guardian.secrets.session.text)"
    let head = try head(
      "POST", "/", ("Host", "127.0.0.1:8080"), ("Origin", "http://127.0.0.1:8080"),
      ("Cookie", "a=b; \(cookie)"))
    #expect(guardian.cookieName == "session-8080")
    #expect(guardian.refusal(of: head) == nil)
    #expect(guardian.refusal(of: head, body: [])?.status == 403)
    let other = try self.head(
      "GET", "/", ("Host", "127.0.0.1:8080"), ("Cookie", "\(guardian.cookieName)=\(Self.token)"))
    #expect(guardian.refusal(of: other)?.status == 401)
  }

  @Test func `A1: the secret of the form is in a field or in the header`() throws {
    let guardian = try guardian()
    let secret = guardian.secrets.form.text
    let type = ("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
    let form = try head("POST", "/", type)
    let body = { (text: String) in Array("a=b&\(RequestGuard.formField)=\(text)".utf8) }
    #expect(guardian.refusal(of: form, body: body(secret)) == nil)
    #expect(guardian.refusal(of: form, body: body(secret.uppercased() + "0"))?.status == 403)
    #expect(guardian.refusal(of: form, body: [])?.status == 403)
    // A form of another type could come from another origin without a check by the browser.
    #expect(
      guardian.refusal(
        of: try head("POST", "/", ("Content-Type", "text/plain")), body: body(secret))?
        .status == 403)
    let script = try head("POST", "/", (RequestGuard.formHeader, secret))
    #expect(guardian.refusal(of: script, body: []) == nil)
    let wrong = try head("POST", "/", (RequestGuard.formHeader, "wrong"))
    #expect(guardian.refusal(of: wrong, body: [])?.status == 403)
    #expect(guardian.refusal(of: try head("HEAD"), body: []) == nil)
    // There is no login without a token.
    #expect(guardian.refusal(of: try head("POST", "/login"), body: [])?.status == 403)
  }

  @Test func `A1: secrets differ, do not show themselves, and match only themselves`() throws {
    let first = try guardian(token: Self.token)
    let second = try guardian(token: Self.token)
    #expect(first.secrets.form.text != second.secrets.form.text)
    #expect(first.secrets.form.text != first.secrets.session.text)
    #expect(first.secrets.form.text.utf8.count == 64)
    var text = ""
    dump(first.secrets, to: &text)
    #expect(!text.contains(Self.token) && !"\(first.secrets)".contains(Self.token))
    let secret = Secret("abc")
    for (candidate, isSame) in [
      ("abc", true), ("abd", false), ("bbc", false), ("ab", false), ("abcd", false), ("", false),
    ] { #expect(secret.matches(candidate) == isSame, "\(candidate)") }
    #expect(!secret.matches(nil))
    #expect(!Secret("").matches(""))
  }

  @Test func `A12: without a token, only the users of the server get an answer`() throws {
    let guardian = try guardian(users: [0, 7])
    let read = try head("GET", "/", ("Host", "127.0.0.1:8080"))
    let act = try head(
      "POST", "/", ("Host", "127.0.0.1:8080"), ("Origin", "http://127.0.0.1:8080"))
    for (user, status) in [(0, nil), (7, nil), (8, 403), (nil, 403)] as [(UInt32?, Int?)] {
      #expect(guardian.refusal(of: read, from: user)?.status == status)
      #expect(guardian.refusal(of: act, from: user)?.status == status)
    }
    // The methods are not told to others.
    let other = try head("DELETE", "/", ("Host", "127.0.0.1:8080"))
    #expect(guardian.refusal(of: other, from: 8)?.status == 403)
  }

  @Test(
    arguments: [
      ("https://runs.example", "https://runs.example"),
      ("HTTPS://Runs.Example/", "https://runs.example"),
      ("https://a:443", "https://a"), ("http://a:8443/", "http://a:8443"),
      ("https://a/b", nil), ("https://", nil), ("runs.example", nil), ("https://a:0", nil),
      ("https://a:70000", nil), ("ftp://a", nil), ("https://a b", nil), ("https://u@a", nil),
    ] as [(String, String?)])
  func `A12: the address of a proxy is a scheme and a name`(text: String, origin: String?) {
    #expect(PublicOrigin(text)?.description == origin)
  }

  @Test func `A12: pages of a proxy act, but only with the secret of the form`() throws {
    let guardian = try guardian(
      token: Self.token, publicOrigin: PublicOrigin("https://runs.example"))
    let bearer = ("Authorization", "Bearer \(Self.token)")
    for host in ["runs.example", "127.0.0.1:8080"] {
      for (origin, status) in [
        ("https://runs.example", nil), ("http://runs.example", 403), ("https://evil.example", 403),
      ] as [(String, Int?)] {
        let request = try head("POST", "/", ("Host", host), ("Origin", origin), bearer)
        #expect(guardian.refusal(of: request)?.status == status)
        // The proxy has added the token to what a browser has sent.
        if status == nil { #expect(guardian.refusal(of: request, body: [])?.status == 403) }
      }
    }
    let program = try head("POST", "/", ("Host", "127.0.0.1:8080"), bearer)
    #expect(guardian.refusal(of: program, body: []) == nil)
    let other = try head("GET", "/", ("Host", "evil.example"), bearer)
    #expect(guardian.refusal(of: other)?.status == 421)
  }
}
