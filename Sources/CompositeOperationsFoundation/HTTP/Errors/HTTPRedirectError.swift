/// A server sends a request elsewhere, and it cannot go there.
public struct HTTPRedirectError: HTTPRequestError, CustomStringConvertible {
  /// Why it cannot go on.
  public enum Reason: Sendable, Hashable {
    /// It was sent on more often than is allowed.
    case tooMany(limit: Int)
    /// The header `Location` is not there, or no address of the schemes http and https.
    case badLocation(String?)
  }

  public let request: HTTPRequestSummary
  public let reason: Reason
  /// Where it was, in order, without what is secret.
  public let addresses: [String]

  public var isRetryable: Bool { false }

  public var description: String {
    let way = addresses.suffix(4).joined(separator: " → ")
    return switch reason {
    case .tooMany(let limit):
      "\(request) was sent on more than \(limit) times: … \(way). "
        + "Check whether the server sends it in a circle, or allow more redirects in the options."
    case .badLocation(let location?):
      "\(request) was sent on from \(way) to \(location), which is no address of http or https. "
        + "Ask whoever runs the server."
    case .badLocation(nil):
      "\(request) was sent on from \(way) without saying where to. Ask whoever runs the server."
    }
  }
}
