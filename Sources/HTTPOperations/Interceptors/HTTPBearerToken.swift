public import CompositeOperations
public import Foundation

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// An interceptor that sends a bearer token to a host, and obtains a new one when the server refuses it
/// (RFC 6750).
///
/// ```swift
/// import HTTPOperations
///
/// let token = HTTPBearerToken(for: "api.example.com") {
///   HTTPBearerToken.Token("1234", expiresIn: .seconds(3_600))
/// }
/// let session = HTTPSession(interceptors: [token])
/// ```
///
/// It sets `Authorization` for requests to this host, by `https`, or by `http` to a loopback address. No
/// other request gets the token, also after a redirect.
///
/// The first request that needs a token runs the login. All requests that need it at the same time wait
/// for that one login (single-flight), and its error is the error of each of them. A request that is
/// cancelled stops waiting, without an effect on the others. After a 401, the token is not used again,
/// and the request is sent once more with a new token. If the token was already replaced, it is
/// sent with the current one, without another login. If that token is refused, too, the error is the
/// ``HTTPStatusError`` of the 401.
///
/// The login may use the same session: its own requests are sent without a token.
public final class HTTPBearerToken: HTTPInterceptor {
  /// A bearer token. Its description does not show it.
  public struct Token: Sendable, Hashable {
    /// The token.
    public let secret: String
    /// For how long the token is used after the login has returned it; nil if that is until the
    /// server refuses it.
    public let lifetime: Duration?

    /// Creates a token.
    ///
    /// - Parameters:
    ///   - secret: The token, without `Bearer`.
    ///   - lifetime: For how long to use it after the login has returned it; nil if that is until the
    ///     server refuses it.
    public init(_ secret: String, expiresIn lifetime: Duration? = nil) {
      self.secret = secret
      self.lifetime = lifetime
    }
  }

  private struct HeldToken: Sendable {
    let token: Token
    let isExpired: @Sendable () -> Bool
  }

  /// The tokens whose login the current task is a part of.
  @TaskLocal private static var ownLogins: Set<ObjectIdentifier> = []

  private let isForURL: @Sendable (URL) -> Bool
  private let login: AnyOperation<Token>
  private let clock: any Clock<Duration>
  private let logins = SharedRuns<Int, Token>()
  private let held = Lock<HeldToken?>(nil)

  /// Creates an interceptor that obtains the token of a host from a closure.
  ///
  /// - Parameters:
  ///   - host: The name of the host, without scheme and port. Subdomains are other hosts.
  ///   - clock: The clock of the lifetimes of tokens.
  ///   - login: Obtains a token. Its error is the error of all requests that wait for it.
  public convenience init(
    for host: String, clock: any Clock<Duration> = ContinuousClock(),
    from login: @escaping @Sendable () async throws -> Token
  ) {
    self.init(for: host, clock: clock, from: SimpleOperation { try await login() })
  }

  /// Creates an interceptor that obtains the token of a host from an operation.
  ///
  /// - Parameters:
  ///   - host: The name of the host, without scheme and port. Subdomains are other hosts.
  ///   - clock: The clock of the lifetimes of tokens.
  ///   - login: Obtains a token. Its error is the error of all requests that wait for it.
  public convenience init(
    for host: String, clock: any Clock<Duration> = ContinuousClock(),
    from login: some ComposableOperation<Token>
  ) {
    let host = host.lowercased()
    self.init(forURLs: { $0.host?.lowercased() == host }, clock: clock, from: login)
  }

  /// Creates an interceptor that obtains the token of some URLs from an operation.
  ///
  /// - Parameters:
  ///   - isForURL: Whether a URL may receive the token. It is not called for `http` URLs of other
  ///     hosts than loopback addresses, which never receive it.
  ///   - clock: The clock of the lifetimes of tokens.
  ///   - login: Obtains a token. Its error is the error of all requests that wait for it.
  public init(
    forURLs isForURL: @escaping @Sendable (URL) -> Bool,
    clock: any Clock<Duration> = ContinuousClock(), from login: some ComposableOperation<Token>
  ) {
    self.isForURL = isForURL
    self.login = AnyOperation(login)
    self.clock = clock
  }

  /// Sets the `Authorization` of a request that may receive the token.
  ///
  /// - Parameter request: The request.
  /// - Returns: The request with the token.
  /// - Throws: The error of the login, and `CancellationError`.
  public func willSend(_ request: URLRequest) async throws -> URLRequest {
    guard isFor(request) else { return request }
    var request = request
    let token = try await token()
    request.setValue("Bearer \(token.secret)", forHTTPHeaderField: "Authorization")
    return request
  }

  /// Has a request sent again after the first 401.
  ///
  /// - Parameters:
  ///   - request: The request as it was sent.
  ///   - response: The response.
  ///   - repetition: The number of the repetition.
  /// - Returns: Whether to send the request again.
  public func shouldSendAgain(
    _ request: URLRequest, after response: HTTPResponseHead, repetition: Int
  ) async throws -> Bool {
    guard response.status == 401, repetition == 1, isFor(request) else { return false }
    forget(request.value(forHTTPHeaderField: "Authorization"))
    return true
  }

  private func isFor(_ request: URLRequest) -> Bool {
    guard let url = request.url, !Self.ownLogins.contains(ObjectIdentifier(self)) else {
      return false
    }
    return (url.scheme?.lowercased() == "https" || url.isLoopback) && isForURL(url)
  }

  /// The current token. Waits for a login if there is none.
  private func token() async throws -> Token {
    if let token = usableToken() { return token }
    let obtaining = SimpleOperation { [self] in
      // A login can have ended between the check above and the start of this one.
      if let token = usableToken() { return token }
      let logins = Self.ownLogins.union([ObjectIdentifier(self)])
      let token = try await Self.$ownLogins.withValue(logins) { try await login.run().get() }
      hold(token)
      return token
    }
    return try await obtaining.shared(in: logins, for: 0).run().get()
  }

  private func usableToken() -> Token? {
    // The clock may be user code, so it is not read under the lock.
    guard let held = held.withLock({ $0 }), !held.isExpired() else { return nil }
    return held.token
  }

  private func hold(_ token: Token) {
    let isExpired: @Sendable () -> Bool =
      if let lifetime = token.lifetime { clock.isOver(in: lifetime) } else { { false } }
    // The old one is freed outside the lock.
    _ = held.withLock { exchange(&$0, with: HeldToken(token: token, isExpired: isExpired)) }
  }

  /// Removes the token that was refused, unless it has been replaced since it was sent.
  private func forget(_ authorization: String?) {
    _ = held.withLock { held -> HeldToken? in
      guard let token = held?.token, authorization == "Bearer \(token.secret)" else { return nil }
      return exchange(&held, with: nil)
    }
  }
}

extension Clock<Duration> {
  /// Returns a closure that checks whether a time that begins now has passed.
  fileprivate func isOver(in time: Duration) -> @Sendable () -> Bool {
    // Clocks may not be able to represent much later instants.
    let end = now.advanced(by: min(time, .seconds(3_000_000_000)))
    return { now >= end }
  }
}

extension URL {
  /// Whether the host is this machine, by its name or address.
  fileprivate var isLoopback: Bool {
    let host = host?.lowercased() ?? ""
    if ["localhost", "::1", "[::1]"].contains(host) { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }
}

// A program that logs or dumps a value must not publish the secrets in it.

extension HTTPBearerToken: CustomReflectable {
  /// Nothing of the token.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension HTTPBearerToken.Token: CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// The lifetime, without the token.
  public var description: String {
    "bearer token" + (lifetime.map { " that expires in \($0)" } ?? "")
  }
  /// The same text.
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["lifetime": lifetime as Any]) }
}
