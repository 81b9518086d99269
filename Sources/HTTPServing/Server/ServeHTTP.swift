package import CompositeOperations

/// An operation that serves HTTP until it is cancelled.
///
/// A cancelled run stops in this order: it accepts no more connections and requests, ends the
/// streams of events, cancels the handlers, waits for them, sends their responses, closes all
/// connections, and ends as cancelled. A handler that ignores its cancellation delays the end.
///
/// A client that closes its connection ends its stream of events, at the latest at the next event
/// or heartbeat. Another handler is not cancelled by that, because the client may have closed only
/// its sending end.
///
/// The server is for a page on the same host. An address that other hosts can reach needs a token,
/// which is sent without encryption. See ``RequestGuard`` for the checks of each request.
package struct ServeHTTP: ComposableOperation {
  /// Returns the response to a request. Handlers run concurrently.
  package typealias Handler = @Sendable (HTTPRequest) async -> HTTPResponse

  /// Returns the page that asks for the token. It is called on the thread of the server.
  package typealias LoginPage = @Sendable (LoginForm) -> String

  /// The minimum size of a token, in bytes.
  package static let minimumTokenSize = 16

  private let address: ServerAddress
  private let names: [String]
  private let token: String?
  private let users: Set<UInt32>?
  private let publicOrigin: PublicOrigin?
  private let limits: ServerLimits
  private let methods: RequestGuard.Methods
  private let loginPage: LoginPage
  private let onListening: @Sendable (ServerAddress) -> Void
  private let handler: Handler

  /// Creates an operation that serves HTTP.
  ///
  /// - Parameters:
  ///   - address: The address to listen on.
  ///   - names: The names of the host that clients may use instead of the address. The name that
  ///     the system has is one of them if other hosts can reach the address.
  ///   - token: The token that clients need; nil if they need none, which only a loopback address
  ///     allows.
  ///   - users: The numbers of the users of this machine that need no token; nil for all.
  ///   - publicOrigin: The address of a proxy in front, which browsers open; nil for none.
  ///   - limits: The limits of the server.
  ///   - methods: Returns the methods that a path takes.
  ///   - loginPage: Returns the page that asks for the token.
  ///   - onListening: Receives the address, with the port that the system has chosen if it was 0.
  ///     Clients can connect from then on.
  ///   - handler: Returns the response to a request.
  /// - Precondition: The limits of connections are at least 1.
  package init(
    at address: ServerAddress, names: [String] = [], token: String? = nil,
    users: Set<UInt32>? = nil, publicOrigin: PublicOrigin? = nil,
    limits: ServerLimits = ServerLimits(), methods: @escaping RequestGuard.Methods = { _ in nil },
    loginPage: @escaping LoginPage = \.page,
    onListening: @escaping @Sendable (ServerAddress) -> Void = { _ in },
    handler: @escaping Handler
  ) {
    let counts = (limits.connections, limits.connectionsPerAddress)
    precondition(counts.0 >= 1, "`connections` must be at least 1 (was \(counts.0))")
    precondition(counts.1 >= 1, "`connectionsPerAddress` must be at least 1 (was \(counts.1))")
    (self.address, self.names, self.token) = (address, names, token)
    (self.users, self.publicOrigin) = (users, publicOrigin)
    (self.limits, self.methods, self.loginPage) = (limits, methods, loginPage)
    (self.onListening, self.handler) = (onListening, handler)
  }

  /// Serves requests until the run is cancelled.
  ///
  /// - Throws: `CancellationError`, and an ``HTTPServingError`` if the server cannot start.
  package func perform(in context: OperationContext) async throws {
    try Task.checkCancellation()
    if let token, token.utf8.count < Self.minimumTokenSize {
      throw HTTPServingError.shortToken(
        count: token.utf8.count, minimum: Self.minimumTokenSize)
    }
    let secrets = ServerSecrets(token: token)
    let names = names + (address.isLoopback ? [] : [ServerAddress.hostName].compactMap(\.self))
    // Before the port is taken.
    _ = try RequestGuard(address: address, names: names, secrets: secrets)
    let socket = try ListeningSocket(address)
    let server = HTTPServer(
      guardedBy: try RequestGuard(
        address: socket.address, names: names, secrets: secrets, users: users,
        publicOrigin: publicOrigin, methods: methods),
      limits: limits, loginPage: loginPage)
    let daemon = try HTTPDaemon(server, listeningOn: socket)
    onListening(socket.address)
    await server.serve(handler, from: daemon)
    throw CancellationError()
  }
}
