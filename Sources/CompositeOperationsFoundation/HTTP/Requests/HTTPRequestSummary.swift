internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// What errors and events say of a request: nothing that is secret.
///
/// Its description is the method and the address, without user, password and fragment, and with the names
/// alone of what the query says; and where redirects led, if they did.
public struct HTTPRequestSummary: Sendable, Hashable, CustomStringConvertible {
  /// In capital letters.
  public let method: String
  /// The address without secrets, for people.
  public let address: String
  /// Where redirects have led the request, as the address is shown; nil if it was not sent on.
  public private(set) var redirectedTo: String?
  /// The host that is asked in the end; empty if the address has none.
  public private(set) var host: String
  /// Whether the request does no harm if it is made again, because of its method (RFC 9110, section 9.2.2),
  /// because it has an `Idempotency-Key`, or because whoever made it says so.
  public private(set) var isRepeatable: Bool

  public var description: String {
    "\(method) \(address)" + (redirectedTo.map { " (redirected to \($0))" } ?? "")
  }
}

extension HTTPRequestSummary {
  private static let repeatableMethods: Set = ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"]

  /// - Parameter isRepeatable: What whoever made it says; nil if it depends on the request.
  init(_ request: URLRequest, isRepeatable: Bool?) {
    method = (request.httpMethod ?? "GET").uppercased()
    address = request.url?.withoutSecrets ?? "no URL"
    host = request.url?.host ?? ""
    let hasKey = request.value(forHTTPHeaderField: "Idempotency-Key") != nil
    self.isRepeatable = isRepeatable ?? (hasKey || Self.repeatableMethods.contains(method))
  }

  /// The same request where a redirect has led it.
  func sentOn(to url: URL) -> HTTPRequestSummary {
    var summary = self
    summary.redirectedTo = url.withoutSecrets
    summary.host = url.host ?? ""
    return summary
  }

  /// The same request where making it again would do harm now.
  var unrepeatable: HTTPRequestSummary {
    var summary = self
    summary.isRepeatable = false
    return summary
  }
}

extension URL {
  /// The address as it may be shown: any value in a query may be a key to something.
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
