internal import Foundation
internal import SystemSupport

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// The identity of the kept response of a GET.
struct CachedRequest: Sendable {
  /// A hash of the resource and its server in 64 hexadecimal digits: of the URL without its user
  /// and password, the Unix socket and the `Host`.
  let key: String
  /// Whether a response needs an `ETag`, because not all credentials of the request are known.
  let needsTag: Bool
  /// The URL without its fragment.
  private let url: String
  /// By their names in lower case.
  private let headers: [String: String]

  /// Requests with these headers do not use the cache.
  private static let conditions = [
    "if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range", "range",
  ]

  /// - Parameter session: The session that sends the request, and adds headers to it.
  /// - Returns: Nil if the request does not use the cache.
  init?(_ request: URLRequest, in session: HTTPSession) {
    let configuration = session.configuration
    guard let url = request.url, request.httpMethod ?? "GET" == "GET", request.httpBody == nil,
      request.httpBodyStream == nil,
      var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
    else { return nil }
    let headers = configuration.headers
    var known: [String: String] = [:]
    for field in headers.fields { known[field.name.lowercased()] = headers[field.name] }
    for (name, value) in request.allHTTPHeaderFields ?? [:] { known[name.lowercased()] = value }
    if Self.conditions.contains(where: { known[$0] != nil }) { return nil }
    if HTTPHeaders.forbidsStoring(known["cache-control"]) { return nil }
    parts.user = nil
    parts.password = nil
    parts.fragment = nil
    guard let address = parts.string else { return nil }
    self.headers = known
    self.url = url.withoutFragment
    needsTag =
      !session.interceptors.isEmpty || configuration.keepsCookies
      || configuration.certificates.client != nil
    key = Self.hash([address, configuration.unixSocket, known["host"]])
  }

  /// A hash of the credentials and of the values of headers.
  ///
  /// - Parameters:
  ///   - names: The names in lower case; nil for all headers.
  ///   - salt: A random text, which prevents that credentials are found by hashes computed before.
  func variant(by names: [String]?, salt: String) -> String {
    let names = ["authorization", "cookie"] + (names ?? headers.keys.sorted())
    return Self.hash([salt, url] + names.flatMap { [$0, headers[$0]] })
  }

  func isSent(to url: URL) -> Bool { url.withoutFragment == self.url }

  private static func hash(_ texts: [String?]) -> String {
    var hash = ContentHash()
    for text in texts {
      hash.append(Array((text.map { "\($0.utf8.count) \($0)" } ?? "nil ").utf8).span)
    }
    return hash.text
  }
}

extension URL {
  fileprivate var withoutFragment: String { String(absoluteString.prefix { $0 != "#" }) }
}
