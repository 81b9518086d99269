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
      "\(request) was redirected more than \(limit) times: … \(way). "
        + "Check the server for a redirect loop, or allow more redirects in the options."
    case .badLocation(let location?):
      "\(request) was redirected from \(way) to \(location), which is not an http or https URL. "
        + "Report this to the operator of the server."
    case .badLocation(nil):
      "\(request) was redirected from \(way) without a Location header. "
        + "Report this to the operator of the server."
    }
  }
}
