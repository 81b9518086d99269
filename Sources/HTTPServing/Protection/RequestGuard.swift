/// Decides which requests a server accepts.
///
/// It protects against pages of other origins in a browser of the same user:
///
/// - `Host` must name the server, because the name of another host may have been resolved to its
///   address (DNS rebinding).
/// - A request that may change something must come from a page of the server: `Origin` must be the
///   server's. Browsers replace it by "null" for a form of a page without a referrer, as the pages
///   of these servers are. So if it is "null" or missing, `Sec-Fetch-Site`, which pages cannot set,
///   must be "same-origin".
/// - Such a request also needs the secret of the server's forms.
///
/// If the server has a token, every request needs it: in `Authorization: Bearer`, or through the
/// cookie that the login form sets. A bearer token takes the place of the origin, if there is none,
/// and of the form's secret, because pages of other origins cannot send it.
///
/// Without a token, a server can have users: then it answers only programs of these users of this machine, as the
/// system names the user of a connection.
///
/// A proxy in front can be declared by its public origin. Its name is one of the server's, and its pages are the
/// server's pages. It may add the token to requests of browsers, so the token does not take the place of the secret
/// in a request that a browser has sent.
///
/// A method that the address does not take is refused. Without the token, the response does not reveal
/// the methods.
package struct RequestGuard: Sendable {
  /// Returns the methods that a path takes, without HEAD; nil if all do, or if there is no such path.
  package typealias Methods = @Sendable (String) -> [String]?

  /// The name of the form field with the form's secret.
  package static let formField = "form-secret"
  /// The name of the header field with the form's secret.
  package static let formHeader = "X-Form-Secret"

  package let secrets: ServerSecrets
  /// The name of the session cookie. It has the port, because servers on different ports of a host
  /// share their cookies.
  package let cookieName: String
  private let address: ServerAddress
  private let hosts: Set<String>
  private let methods: Methods
  /// The users whose programs the server answers without a token; nil for all.
  let users: Set<UInt32>?
  private let publicOrigin: PublicOrigin?

  /// - Parameters:
  ///   - address: The address that the server is bound to.
  ///   - names: The names of the host other than its address.
  ///   - secrets: The secrets of the server.
  ///   - users: The numbers of the users of this machine that need no token; nil for all.
  ///   - publicOrigin: The address of a proxy in front; nil for none.
  ///   - methods: Returns the methods of a path.
  /// - Throws: `HTTPServingError.tokenRequired`, if the address is not a loopback address and there
  ///   is no token.
  package init(
    address: ServerAddress, names: [String] = [], secrets: ServerSecrets,
    users: Set<UInt32>? = nil, publicOrigin: PublicOrigin? = nil,
    methods: @escaping Methods = { _ in nil }
  ) throws(HTTPServingError) {
    guard address.isLoopback || secrets.token != nil else { throw .tokenRequired(address) }
    self.address = address
    self.secrets = secrets
    self.methods = methods
    (self.users, self.publicOrigin) = (users, publicOrigin)
    cookieName = "session-\(address.port)"
    var own = names.map { $0.lowercased() } + [address.hostInURL]
    if address.isLoopback || address.isWildcard { own += ["localhost", "127.0.0.1", "[::1]"] }
    hosts = Set(own)
  }

  /// Checks a request before its body is read.
  ///
  /// - Parameter user: The user of the program that has sent it; nil if it is not known.
  /// - Returns: The reason to refuse the request; nil to accept it.
  package func refusal(of head: RequestHead, from user: UInt32? = nil) -> RequestRefusal? {
    let values = head.headers.values(of: "Host")
    guard let host = values.first, values.count == 1 else {
      return RequestRefusal(400, "The request must have one Host field.")
    }
    guard isOwn(host: host) else {
      return RequestRefusal(
        421,
        """
        The Host field names another server than \(address). Use its address with the port, or a name \
        that it was started with.
        """)
    }
    if secrets.token == nil, let users, user.map(users.contains) != true {
      return RequestRefusal(
        403,
        """
        The server answers only programs of its own user on this machine, and of root. A request through a proxy \
        needs a token.
        """)
    }
    let allowed = allowedMethods(of: head)
    guard allowed.contains(head.method) else {
      return RequestRefusal(method: head.method, allowing: allowed)
    }
    if !head.isSafe, !isSameOrigin(head, host: host) {
      return RequestRefusal(
        403,
        """
        The request does not come from a page of this server: Origin is missing, or another one.
        """)
    }
    if !LoginForm.isLogin(head), !isPermitted(head) {
      // A program that reads JSON has no use for a form.
      return RequestRefusal(
        401, LoginForm.reason, login: head.prefersJSON ? nil : LoginForm.target(of: head))
    }
    return nil
  }

  /// Checks the secret of the form of a request, if the request needs it.
  ///
  /// - Returns: The reason to refuse the request; nil to accept it.
  package func refusal(of head: RequestHead, body: [UInt8]) -> RequestRefusal? {
    if head.isSafe || LoginForm.isLogin(head) && secrets.token != nil { return nil }
    // A proxy may add the token to what a browser has sent.
    if hasToken(head), publicOrigin == nil || !head.isOfBrowser { return nil }
    let field = HTTPRequest.form(body, of: head)?.first { $0.name == Self.formField }?.value
    if secrets.form.matches(head.headers[Self.formHeader]) || secrets.form.matches(field) {
      return nil
    }
    return RequestRefusal(403, "The secret of the form is wrong. Load the page again.")
  }

  /// The methods that the address of a request takes. For a client without the token, all do.
  private func allowedMethods(of head: RequestHead) -> [String] {
    guard isPermitted(head), let methods = methods(head.target.path) else {
      return RequestHead.methods
    }
    return methods.flatMap { $0 == "GET" ? ["GET", "HEAD"] : [$0] }
  }

  /// Whether the request has the token or the session, if the server has a token.
  private func isPermitted(_ head: RequestHead) -> Bool {
    secrets.token == nil || hasToken(head) || hasSession(head) || hasLink(head)
  }

  /// Whether the address of the request has the token, as the link has that a server prints.
  func hasLink(_ head: RequestHead) -> Bool {
    guard head.isSafe, let token = secrets.token else { return false }
    return token.matches(head.target.query.first { $0.name == LoginForm.field }?.value)
  }

  /// The field that gives a browser the session.
  func cookie(for head: RequestHead) -> HTTPHeader {
    let isSecure = publicOrigin.map { $0.scheme == "https" && isPublic(head, $0) } ?? false
    return HTTPHeader(
      trusted: "Set-Cookie",
      "\(cookieName)=\(secrets.session.text); Path=/; HttpOnly; SameSite=Strict"
        + (isSecure ? "; Secure" : ""))
  }

  private func isPublic(_ head: RequestHead, _ origin: PublicOrigin) -> Bool {
    head.headers["Host"]?.lowercased() == origin.host
  }

  private func isOwn(host: String) -> Bool {
    let text = host.lowercased()
    if text == publicOrigin?.host { return true }
    let suffix = ":\(address.port)"
    let name: Substring
    if text.hasSuffix(suffix) {
      name = text.dropLast(suffix.count)
    } else if address.port == 80 {
      name = text[...]
    } else {
      return false
    }
    // An address is not resolved, so it cannot be rebound.
    return hosts.contains(String(name))
      || address.isWildcard && ServerAddress.isAddress(String(name))
  }

  private func isSameOrigin(_ head: RequestHead, host: String) -> Bool {
    let origins = head.headers.values(of: "Origin")
    if origins.count == 1, origins[0] != "null" {
      let origin = origins[0].lowercased()
      if let publicOrigin, origin == publicOrigin.description { return true }
      return origin == "http://\(host.lowercased())" && host.lowercased() != publicOrigin?.host
    }
    guard origins.count <= 1 else { return false }
    let sites = head.headers.values(of: "Sec-Fetch-Site")
    if sites.isEmpty, origins.isEmpty { return hasToken(head) }
    return sites == ["same-origin"]
  }

  /// Whether the request has the token itself, which browsers do not add to requests.
  func hasToken(_ head: RequestHead) -> Bool {
    let values = head.headers.values(of: "Authorization")
    guard let token = secrets.token, values.count == 1 else { return false }
    let parts = values[0].split(separator: " ", maxSplits: 1)
    guard parts.count == 2, parts[0].lowercased() == "bearer" else { return false }
    return token.matches(String(parts[1]))
  }

  private func hasSession(_ head: RequestHead) -> Bool {
    secrets.session.matches(head.headers.cookie(named: cookieName))
  }
}
