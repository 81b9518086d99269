public import Foundation

/// The error of a redirect that cannot be followed.
public struct HTTPRedirectError: HTTPRequestError, CustomStringConvertible {
  /// A reason why a redirect cannot be followed.
  public enum Reason: Sendable, Hashable {
    /// There were more redirects than the limit.
    case tooMany(limit: Int)
    /// The `Location` header is missing, or is not an http or https URL.
    case badLocation(String?)
  }

  /// The request that failed.
  public let request: HTTPRequestSummary
  /// Why the redirect cannot be followed.
  public let reason: Reason
  /// The URLs that redirected the request, in order and without secrets.
  public let addresses: [String]

  /// Always false.
  public var isRetryable: Bool { false }

  /// The request, the redirects, and what to do.
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

extension HTTPRedirectError: LocalizedError {
  public var errorDescription: String? { "\(self)" }
}
