import Foundation

/// The server-to-server keys, the API token and the sessions of users.
struct Authentication: Sendable {
  /// The user of a session, with the web authentication tokens that are valid.
  private struct Session: Sendable {
    var user: String
    /// By token, the time when it was created.
    var tokens: [String: Date]
  }

  /// The result of a successful check.
  struct Identity: Sendable {
    /// The record name of the user; nil for an API token alone.
    var user: String?
    /// The web authentication token for the next request.
    var nextToken: String?
  }

  /// The parts of a request that are checked.
  struct Credentials: Sendable {
    var keyID, date, signature: String?
    /// The path without the query.
    var subpath: String
    var query: [String: String]
    var body: Data
    var database: String
    /// Whether the request needs a user in the public database also.
    var needsUser: Bool
  }

  /// The user of server-to-server keys: the developer who created them.
  static let developer = "_developer"

  var serverKeys: [String: String]
  var apiToken: String?
  private var sessions: [Session]
  private var tokenCount = 0

  init(serverKeys: [String: String], apiToken: String?, users: [String: String]) {
    self.serverKeys = serverKeys
    self.apiToken = apiToken
    // First tokens do not expire, because tests set the clock later.
    sessions = users.map { Session(user: $0.value, tokens: [$0.key: .distantFuture]) }
  }

  /// Returns a new web authentication token, as the sign-in page does.
  mutating func signIn(_ user: String, now: Date) -> String {
    let token = newToken()
    sessions.append(Session(user: user, tokens: [token: now]))
    return token
  }

  mutating func signOutAll() { sessions = [] }

  /// - Parameter isReplyLost: Whether the client will not receive the next token.
  mutating func identify(
    _ credentials: Credentials, now: Date, isReplyLost: Bool
  ) throws -> Identity {
    let headers = [credentials.keyID, credentials.date, credentials.signature]
    if headers.contains(where: { $0 != nil }) { return try checkKey(credentials, now: now) }
    guard let token = credentials.query["ckAPIToken"] else {
      throw failed("no authentication method: a server-to-server key or 'ckAPIToken' is required")
    }
    guard token == apiToken else { throw failed("unknown 'ckAPIToken'") }
    guard let webToken = credentials.query["ckWebAuthToken"] else {
      if credentials.needsUser || credentials.database != "public" {
        throw CloudError("AUTHENTICATION_REQUIRED", "request needs authorization")
      }
      return Identity()
    }
    // By default, a token expires after 30 minutes.
    let valid = sessions.firstIndex {
      $0.tokens[webToken].map { now.timeIntervalSince($0) <= 30 * 60 } ?? false
    }
    guard let valid else {
      throw CloudError(
        "AUTHENTICATION_REQUIRED", "'ckWebAuthToken' is not valid: used, expired or unknown")
    }
    let next = newToken()
    // Assumption: "Once the response is received, the previous token is no longer valid." After a
    // lost reply, the previous token stays valid; otherwise no client could continue.
    let previous = isReplyLost ? sessions[valid].tokens[webToken].map { [webToken: $0] } : nil
    sessions[valid].tokens = (previous ?? [:]).merging([next: now]) { $1 }
    return Identity(user: sessions[valid].user, nextToken: next)
  }

  private func checkKey(_ credentials: Credentials, now: Date) throws -> Identity {
    let prefix = "X-Apple-CloudKit-Request-"
    if !credentials.query.isEmpty {
      throw failed("a server-to-server key and a query (ckAPIToken) in one request")
    }
    guard let keyID = credentials.keyID else { throw failed("missing header \(prefix)KeyID") }
    guard let date = credentials.date else { throw failed("missing header \(prefix)ISO8601Date") }
    guard let signature = credentials.signature else {
      throw failed("missing header \(prefix)SignatureV1")
    }
    guard let key = serverKeys[keyID] else { throw failed("unknown key ID '\(keyID)'") }
    guard let time = try? Date(date, strategy: .iso8601), time.formatted(.iso8601) == date else {
      throw failed("malformed date '\(date)': must be like 2016-01-25T22:15:43Z")
    }
    if abs(time.timeIntervalSince(now)) > 600 {
      throw failed("the date \(date) differs from the server's clock by more than 10 minutes")
    }
    guard let bytes = Data(base64Encoded: signature) else {
      throw failed("the signature is not base64")
    }
    let message = Signature.message(
      date: date, body: credentials.body, subpath: credentials.subpath)
    guard Signature.isValid(bytes, of: message, for: key) else {
      throw failed("the signature does not match; the signed text must be '\(message)'")
    }
    guard credentials.database == "public" else {
      throw failed("a server-to-server key has access to the public database only")
    }
    return Identity(user: Self.developer)
  }

  private func failed(_ reason: String) -> CloudError {
    CloudError("AUTHENTICATION_FAILED", reason)
  }

  /// Returns a token with all characters that a client must encode.
  private mutating func newToken() -> String {
    tokenCount += 1
    return "web+\(tokenCount)/token=="
  }
}
