internal import CompositeOperations

/// The session of a user who has signed in to a container, with tokens.
///
/// ```swift
/// import CloudKitOperations
///
/// let session = CloudKitUserSession(apiToken: apiToken, webToken: webToken) { token in
///   try? token.write(toFile: "web-token", atomically: true, encoding: .utf8)
/// }
/// ```
///
/// A web token is valid for one request: each response has the token of the next request. So the
/// requests of a session are sent one after another, and a session must not be used by two
/// programs. Databases of the same process share the session as an object.
///
/// A user gets the first web token by signing in at the URL that
/// ``CloudKitRecordDatabase/signInURL()`` returns.
public final class CloudKitUserSession: Sendable {
  /// The token of the container.
  public let apiToken: String

  private let mutex = AsyncMutex()
  private let token: Lock<String>
  private let renewed: @Sendable (String) -> Void

  /// Creates a session.
  ///
  /// - Parameters:
  ///   - apiToken: The token of the container, from CloudKit Console.
  ///   - webToken: The web token of the user, from the sign-in or from an earlier session.
  ///   - renewed: Receives each new web token, before the next request is sent. Store the token to
  ///     continue the session later.
  public init(
    apiToken: String, webToken: String, renewed: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.apiToken = apiToken
    token = Lock(webToken)
    self.renewed = renewed
  }

  /// The web token of the next request.
  public var webToken: String { token.withLock(\.self) }

  /// The end of a request.
  struct Completion<Response: Sendable>: Sendable {
    var response: Result<Response, any Error>
    /// The token of the next request; nil if no head of a response with a token was received.
    var nextToken: String?
  }

  /// Sends a request when all earlier ones have ended.
  ///
  /// - Parameter send: Sends a request with the token.
  nonisolated(nonsending) func exchange<Response>(
    _ send: nonisolated(nonsending) (String) async -> Completion<Response>
  ) async throws -> Response {
    try await mutex.acquire()
    defer { mutex.release() }
    let completion = await send(webToken)
    if let next = completion.nextToken, next != webToken {
      token.withLock { $0 = next }
      renewed(next)
    }
    return try completion.response.get()
  }
}

extension CloudKitUserSession: CustomReflectable {
  /// Without tokens.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
