internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// The way of a request through redirects. It is walked here and not by the session, which on Linux loses
/// the body where it has to be sent again, hands credentials to strangers and misreads relative addresses.
struct HTTPRoute {
  /// What is to be asked for next.
  private(set) var request: URLRequest
  private(set) var body: HTTPRequestBody
  /// What errors say of the request where it has come to.
  private(set) var summary: HTTPRequestSummary
  private let asked: HTTPRequestSummary
  private let limit: Int
  private var addresses: [String] = []

  /// Of headers, in small letters.
  private static let credentials = ["authorization", "cookie", "proxy-authorization"]

  init(
    _ request: URLRequest, body: HTTPRequestBody, summary: HTTPRequestSummary,
    redirects: HTTPRequestOptions.Redirects
  ) {
    self.request = request
    self.body = body
    self.summary = summary
    asked = summary
    switch redirects {
    case .followed(let limit): self.limit = limit
    case .notFollowed: self.limit = 0
    }
  }

  /// Whether a header says who asks, which is no business of another server.
  static func isCredential(_ header: String) -> Bool { credentials.contains(header.lowercased()) }

  static func isRedirect(_ status: Int) -> Bool { [301, 302, 303, 307, 308].contains(status) }

  /// Goes where a response points to.
  mutating func follow(_ head: HTTPResponseHead) throws(HTTPRedirectError) {
    addresses.append(head.url.withoutSecrets)
    if addresses.count > limit {
      throw HTTPRedirectError(
        request: asked, reason: .tooMany(limit: limit), addresses: addresses)
    }
    let location = head.headers["Location"]
    guard let url = location.flatMap({ URL(string: $0, relativeTo: head.url)?.absoluteURL }),
      ["http", "https"].contains(url.scheme?.lowercased()), url.host?.isEmpty == false
    else {
      let shown = location.map { URL(string: $0)?.withoutSecrets ?? "an unreadable URL" }
      throw HTTPRedirectError(
        request: asked, reason: .badLocation(shown), addresses: addresses)
    }
    let method = (request.httpMethod ?? "GET").uppercased()
    // RFC 9110, section 15.4: 303 asks for another thing; a POST becomes a GET by old custom.
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
