/// What a client of CloudKit identifies itself with.
///
/// ```swift
/// import CloudKitOperations
///
/// let key = try CloudKitServerKey(id: "8f2c…", contentsOfFile: "eckey.pem")
/// let credentials = CloudKitCredentials.serverKey(key)
/// ```
public enum CloudKitCredentials: Sendable {
  /// A server-to-server key: the public database, as the developer who registered the key.
  case serverKey(CloudKitServerKey)
  /// A user who has signed in: the public database, and the user's private database.
  case user(CloudKitUserSession)
  /// A token of the container, without a user: reading the public database.
  case apiToken(String)
}

extension CloudKitCredentials: CustomStringConvertible, CustomReflectable {
  /// The kind of the credentials, without tokens.
  public var description: String {
    switch self {
    case .serverKey(let key): "server-to-server key \(key.id)"
    case .user: "user"
    case .apiToken: "API token"
    }
  }
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
