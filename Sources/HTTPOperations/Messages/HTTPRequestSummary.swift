#if canImport(FoundationNetworking)
  internal import Foundation
  public import FoundationNetworking
#else
  public import Foundation
#endif

/// A summary of a request for errors and events, without secrets.
///
/// The description is the method and the URL, without user, password and fragment, and with only
/// the names of the query items. If the request was redirected, it includes the last URL.
public struct HTTPRequestSummary: Sendable, Hashable, CustomStringConvertible {
  /// The method in upper case.
  public private(set) var method: String
  /// The URL without secrets, for display.
  public let address: String
  /// The last URL after redirects, without secrets; nil if the request was not redirected.
  public private(set) var redirectedTo: String?
  /// The host of the last URL; empty if that has none.
  public private(set) var host: String
  /// Whether the request may be repeated: because of its method (RFC 9110, section 9.2.2), because
  /// it has an `Idempotency-Key`, or because ``HTTPRequestOptions/isRepeatable`` is true.
  public private(set) var isRepeatable: Bool

  /// The method and the URL, and the last URL if the request was redirected.
  public var description: String {
    "\(method) \(address)" + (redirectedTo.map { " (redirected to \($0))" } ?? "")
  }
}

extension HTTPRequestSummary {
  private static let repeatableMethods: Set = ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"]

  /// Creates the summary of a request, such as for the log of an interceptor.
  ///
  /// - Parameter request: The request.
  public init(_ request: URLRequest) { self.init(request, isRepeatable: nil) }

  /// - Parameter isRepeatable: The value of the options; nil if it depends on the request.
  init(_ request: URLRequest, isRepeatable: Bool?) {
    method = (request.httpMethod ?? "GET").uppercased()
    address = request.url?.withoutSecrets ?? "no URL"
    host = request.url?.host ?? ""
    let hasKey = request.value(forHTTPHeaderField: "Idempotency-Key") != nil
    self.isRepeatable = isRepeatable ?? (hasKey || Self.repeatableMethods.contains(method))
  }

  /// The same request after a redirect.
  func sentOn(to url: URL) -> HTTPRequestSummary {
    var summary = self
    summary.redirectedTo = url.withoutSecrets
    summary.host = url.host ?? ""
    return summary
  }

  /// The request that a redirect makes of this one.
  func withMethod(_ method: String) -> HTTPRequestSummary {
    var summary = self
    summary.method = method
    return summary
  }

  /// The same request, which may not be repeated.
  var unrepeatable: HTTPRequestSummary {
    var summary = self
    summary.isRepeatable = false
    return summary
  }
}

extension URL {
  /// The URL for display. Any value in a query may be a secret.
  var withoutSecrets: String {
    guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else {
      return "an unreadable URL"
    }
    let names = parts.percentEncodedQuery?.split(separator: "&").map { item in
      item.contains("=") ? item.prefix { $0 != "=" } + "=…" : "…"
    }
    parts.user = nil
    parts.password = nil
    parts.percentEncodedQuery = nil
    parts.fragment = nil
    let address = parts.string ?? "an unreadable URL"
    return names.map { "\(address)?\($0.joined(separator: "&"))" } ?? address
  }
}
