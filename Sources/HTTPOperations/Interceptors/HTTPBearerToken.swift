public import CompositeOperations
public import Foundation

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// An interceptor that sends a bearer token to a host, and obtains a new one when the server
/// refuses it (RFC 6750).
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
/// It sets `Authorization` for requests to this host, by `https`, or by `http` to a loopback
/// address, which no proxy receives. No other request gets the token, also after a redirect.
///
/// The first request that needs a token runs the login. All requests that need it at the same time
/// wait for that one login (single-flight), and its error is the error of each of them. A request
/// that is cancelled stops waiting. The login continues until its end, even if no request waits for
/// it any longer, because it may have used a refresh token that is valid once; give it a timeout.
///
/// After a 401, the token is not used again, and the request is sent once more with a new token. If
/// the token was already replaced, it is sent with the current one, without another login. If that
/// token is refused, too, the error is the ``HTTPStatusError`` of the 401, and the next request
/// runs the login. ``invalidate()`` removes the token, such as at a logout.
///
/// The login may use the same session: its own requests are sent without a token. An
/// ``HTTPDecodingError`` of the login has no body, because that contains a token.
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
    ///   - lifetime: For how long to use it after the login has returned it; nil if that is until
    ///     the server refuses it. It is not used at all for a time that is not positive.
    public init(_ secret: String, expiresIn lifetime: Duration? = nil) {
      self.secret = secret
      self.lifetime = lifetime
    }
  }

  private struct HeldToken: Sendable {
    let token: Token
    let isExpired: @Sendable () -> Bool
  }

  private struct State: Sendable {
    var held: HeldToken?
    /// How often the tokens were invalidated. A login that began before the last time obtains none
    /// for later requests.
    var invalidations = 0
  }

  private let isForURL: @Sendable (URL) -> Bool
  private let login: AnyOperation<Token>
  private let clock: any Clock<Duration>
  private let logins = SharedRuns<Int, Token>()
  private let state = Lock(State())

  /// Creates an interceptor that obtains the token of a host from a closure.
  ///
  /// - Parameters:
  ///   - host: The name of the host, without scheme and port. Subdomains are other hosts.
  ///   - clock: The clock of the lifetimes of tokens.
  ///   - login: Obtains a token. Its error is the error of all requests that wait for it. It ends
  ///     even if all of them are cancelled.
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
  ///   - login: Obtains a token. Its error is the error of all requests that wait for it. It ends
  ///     even if all of them are cancelled.
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
  ///   - login: Obtains a token. Its error is the error of all requests that wait for it. It ends
  ///     even if all of them are cancelled.
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
    guard response.status == 401, isFor(request) else { return false }
    forget(request.value(forHTTPHeaderField: "Authorization"))
    return repetition == 1
  }

  /// Removes the token, such as at a logout or a change of the account. The next request runs the
  /// login.
  ///
  /// Requests that already wait for a login get its token, and no later request does.
  public func invalidate() {
    // The old one is freed outside the lock.
    _ = state.withLock { state in
      state.invalidations += 1
      return exchange(&state.held, with: nil)
    }
  }

  private func isFor(_ request: URLRequest) -> Bool {
    guard let url = request.url, !RunningLogin.isCurrent(of: self) else { return false }
    return (url.scheme?.lowercased() == "https" || url.isLoopback) && isForURL(url)
  }

  /// The current token. Waits for a login if there is none.
  private func token() async throws -> Token {
    if let token = usableToken() { return token }
    let number = state.withLock { $0.invalidations }
    let obtaining = SimpleOperation { [self] in
      // A login can have ended between the check above and the start of this one.
      if let token = usableToken() { return token }
      let token = try await RunningLogin.run(of: self) { try await login.run().get() }
      hold(token, ofLoginAfter: number)
      return token
    }
    // A run of its own waits for the login, also after the request was cancelled.
    let environment = OperationEnvironment(executor: Task.preferredExecutor)
    let run = obtaining.shared(in: logins, for: number).start(in: environment)
    // Unlike the outcome, the end of the events is not waited for by a cancelled task.
    for await _ in run.events {}
    try Task.checkCancellation()
    return try await run.outcome.get()
  }

  private func usableToken() -> Token? {
    // The clock may be user code, so it is not read under the lock.
    guard let held = state.withLock({ $0.held }), !held.isExpired() else { return nil }
    return held.token
  }

  private func hold(_ token: Token, ofLoginAfter number: Int) {
    let isExpired: @Sendable () -> Bool =
      if let lifetime = token.lifetime { clock.isOver(in: lifetime) } else { { false } }
    // The old one is freed outside the lock.
    _ = state.withLock { state -> HeldToken? in
      if state.invalidations != number { return nil }
      return exchange(&state.held, with: HeldToken(token: token, isExpired: isExpired))
    }
  }

  /// Removes the token that was refused, unless it has been replaced since it was sent.
  private func forget(_ authorization: String?) {
    _ = state.withLock { state -> HeldToken? in
      guard authorization == state.held.map({ "Bearer \($0.token.secret)" }) else { return nil }
      return exchange(&state.held, with: nil)
    }
  }
}

extension Clock<Duration> {
  /// Returns a closure that checks whether a time that begins now has passed.
  fileprivate func isOver(in time: Duration) -> @Sendable () -> Bool {
    // Clocks may not be able to represent much later instants.
    let end = now.advanced(by: min(max(time, .zero), .seconds(3_000_000_000)))
    return { now >= end }
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
