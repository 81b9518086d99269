internal import Foundation
internal import SystemSupport

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// The identity of the kept response of a GET.
struct CachedRequest: Sendable {
  /// A hash of the URL and the credentials, which may be secrets, in 64 hexadecimal digits.
  let key: String
  /// The URL without its fragment.
  let url: String
  /// Whether a response needs an `ETag`, because not all headers of the request are known.
  let needsTag: Bool
  /// By their names in lower case.
  private let headers: [String: String]

  /// Requests with these headers do not use the cache.
  private static let conditions = [
    "if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range", "range",
  ]

  /// - Parameters:
  ///   - headers: Headers for requests that do not have them.
  ///   - areComplete: Whether nothing adds other headers.
  /// - Returns: Nil if the request does not use the cache.
  init?(_ request: URLRequest, adding headers: HTTPHeaders, areComplete: Bool) {
    guard let url = request.url, request.httpMethod ?? "GET" == "GET", request.httpBody == nil,
      request.httpBodyStream == nil
    else { return nil }
    var known: [String: String] = [:]
    for field in headers.fields { known[field.name.lowercased()] = headers[field.name] }
    for (name, value) in request.allHTTPHeaderFields ?? [:] { known[name.lowercased()] = value }
    if Self.conditions.contains(where: { known[$0] != nil }) { return nil }
    if known["cache-control"]?.lowercased().contains("no-store") == true { return nil }
    self.headers = known
    self.url = url.withoutFragment
    needsTag = !areComplete
    key = Self.hash([self.url, known["authorization"], known["cookie"]])
  }

  /// A hash of the values of headers.
  ///
  /// - Parameter names: The names in lower case.
  func variant(by names: [String]) -> String { Self.hash(names.map { headers[$0] }) }

  func isSent(to url: URL) -> Bool { url.withoutFragment == self.url }

  private static func hash(_ texts: [String?]) -> String {
    var hash = ContentHash()
    for text in texts {
      // Neither a URL nor a header has a line break.
      hash.append(Array((text.map { "=\($0)\n" } ?? "\n").utf8).span)
    }
    return hash.text
  }
}

extension URL {
  fileprivate var withoutFragment: String { String(absoluteString.prefix { $0 != "#" }) }
}
