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

  /// - Parameters:
  ///   - address: The address that the server is bound to.
  ///   - names: The names of the host other than its address.
  ///   - secrets: The secrets of the server.
  ///   - methods: Returns the methods of a path.
  /// - Throws: `HTTPServingError.tokenRequired`, if the address is not a loopback address and there
  ///   is no token.
  package init(
    address: ServerAddress, names: [String] = [], secrets: ServerSecrets,
    methods: @escaping Methods = { _ in nil }
  ) throws(HTTPServingError) {
    guard address.isLoopback || secrets.token != nil else { throw .tokenRequired(address) }
    self.address = address
    self.secrets = secrets
    self.methods = methods
    cookieName = "session-\(address.port)"
    var own = names.map { $0.lowercased() } + [address.hostInURL]
    if address.isLoopback || address.isWildcard { own += ["localhost", "127.0.0.1", "[::1]"] }
    hosts = Set(own)
  }

  /// Checks a request before its body is read.
  ///
  /// - Returns: The reason to refuse the request; nil to accept it.
  package func refusal(of head: RequestHead) -> RequestRefusal? {
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
    if head.isSafe || hasToken(head) || LoginForm.isLogin(head) && secrets.token != nil {
      return nil
    }
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
    secrets.token == nil || hasToken(head) || hasSession(head)
  }

  private func isOwn(host: String) -> Bool {
    let text = host.lowercased()
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
      return origins[0].lowercased() == "http://\(host.lowercased())"
    }
    guard origins.count <= 1 else { return false }
    let sites = head.headers.values(of: "Sec-Fetch-Site")
    if sites.isEmpty, origins.isEmpty { return hasToken(head) }
    return sites == ["same-origin"]
  }

  /// Whether the request has the token itself, which browsers do not add to requests.
  private func hasToken(_ head: RequestHead) -> Bool {
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
