internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// The path of a request through redirects. They are followed here and not by the session, which on
/// Linux loses a body that must be sent again, sends credentials to other servers, and misreads
/// relative URLs.
struct HTTPRoute {
  /// The next request.
  private(set) var request: URLRequest
  private(set) var body: HTTPRequestBody
  /// The summary of the next request, for errors.
  private(set) var summary: HTTPRequestSummary
  private let original: HTTPRequestSummary
  private let limit: Int
  private var addresses: [String] = []

  /// The names of headers, in lower case.
  private static let credentials = ["authorization", "cookie", "proxy-authorization"]

  init(
    _ request: URLRequest, body: HTTPRequestBody, summary: HTTPRequestSummary,
    redirects: HTTPRequestOptions.Redirects
  ) {
    self.request = request
    self.body = body
    self.summary = summary
    original = summary
    switch redirects {
    case .followed(let limit): self.limit = limit
    case .notFollowed: self.limit = 0
    }
  }

  /// Whether a header contains credentials, which must not go to another server.
  static func isCredential(_ header: String) -> Bool { credentials.contains(header.lowercased()) }

  static func isRedirect(_ status: Int) -> Bool { [301, 302, 303, 307, 308].contains(status) }

  /// Follows the redirect in a response.
  mutating func follow(_ head: HTTPResponseHead) throws(HTTPRedirectError) {
    addresses.append(head.url.withoutSecrets)
    if addresses.count > limit {
      throw HTTPRedirectError(
        request: original, reason: .tooMany(limit: limit), addresses: addresses)
    }
    let location = head.headers["Location"]
    guard let url = location.flatMap({ URL(string: $0, relativeTo: head.url)?.absoluteURL }),
      ["http", "https"].contains(url.scheme?.lowercased()), url.host?.isEmpty == false
    else {
      let shown = location.map { URL(string: $0)?.withoutSecrets ?? "an unreadable URL" }
      throw HTTPRedirectError(
        request: original, reason: .badLocation(shown), addresses: addresses)
    }
    let method = (request.httpMethod ?? "GET").uppercased()
    // RFC 9110, section 15.4: 303 requests another resource; a POST becomes a GET by old custom.
    if head.status == 303 && method != "HEAD"
      || [301, 302].contains(head.status) && method == "POST"
    {
      request.httpMethod = "GET"
      body = .none
      for name in ["Content-Type", "Content-Length", "Content-Encoding"] {
        request.setValue(nil, forHTTPHeaderField: name)
      }
    }
    if !url.hasOrigin(of: head.url) {
      for name in Self.credentials { request.setValue(nil, forHTTPHeaderField: name) }
    }
    request.url = url
    summary = summary.sentOn(to: url)
  }
}

extension URL {
  /// Whether scheme, host and port are the same.
  fileprivate func hasOrigin(of other: URL) -> Bool {
    scheme?.lowercased() == other.scheme?.lowercased()
      && host?.lowercased() == other.host?.lowercased()
      && (port ?? standardPort) == (other.port ?? other.standardPort)
  }

  private var standardPort: Int { scheme?.lowercased() == "https" ? 443 : 80 }
}
