internal import Foundation
internal import SystemSupport

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// The path of a request through redirects. They are followed here and not by the transport, so
/// that all transports treat credentials and bodies alike.
struct HTTPRoute {
  /// The next request.
  private(set) var request: URLRequest
  private(set) var body: HTTPRequestBody
  /// The summary of the next request, for errors.
  private(set) var summary: HTTPRequestSummary
  private let original: HTTPRequestSummary
  private let added: HTTPHeaders
  /// The maximum number of redirects; nil if they are not followed.
  private let limit: Int?
  private var addresses: [String] = []

  /// The names of headers, in lower case.
  private static let credentials = ["authorization", "cookie", "proxy-authorization"]

  /// - Parameter headers: Headers for requests that do not have them.
  init(
    _ request: URLRequest, adding headers: HTTPHeaders, body: HTTPRequestBody,
    summary: HTTPRequestSummary, redirects: HTTPRequestOptions.Redirects
  ) {
    self.request = request
    self.body = body
    self.summary = summary
    original = summary
    added = headers
    switch redirects {
    case .followed(let limit): self.limit = limit
    case .notFollowed: limit = nil
    }
    for field in headers.fields where request.value(forHTTPHeaderField: field.name) == nil {
      self.request.addValue(field.value, forHTTPHeaderField: field.name)
    }
  }

  /// Whether a response is a redirect that is followed.
  func follows(_ head: HTTPResponseHead) -> Bool {
    limit != nil && [301, 302, 303, 307, 308].contains(head.status)
  }

  /// Follows the redirect in a response.
  mutating func follow(_ head: HTTPResponseHead) throws(HTTPRedirectError) {
    addresses.append(head.url.withoutSecrets)
    if let limit, addresses.count > limit {
      throw HTTPRedirectError(
        request: original, reason: .tooMany(limit: limit), addresses: addresses)
    }
    // Two different ones have no meaning together.
    let locations = Set(head.headers.values(of: "Location"))
    let location = locations.isEmpty ? nil : locations.sorted().joined(separator: ", ")
    guard locations.count == 1,
      let url = location.flatMap({ URL(string: $0, relativeTo: head.url)?.absoluteURL }),
      ["http", "https"].contains(url.scheme?.lowercased()), url.host?.isEmpty == false
    else {
      let shown = location.map { URL(string: $0)?.withoutSecrets ?? "an unreadable URL" }
      throw HTTPRedirectError(
        request: original, reason: .badLocation(shown), addresses: addresses)
    }
    let method = summary.method
    // RFC 9110, section 15.4: 303 requests another resource; a POST becomes a GET by old custom.
    if head.status == 303 && method != "HEAD"
      || [301, 302].contains(head.status) && method == "POST"
    {
      summary = summary.withMethod("GET")
      body = .none
      for name in ["Content-Type", "Content-Length", "Content-Encoding"] {
        request.setValue(nil, forHTTPHeaderField: name)
      }
    }
    if !url.hasOrigin(of: head.url) {
      for name in Self.credentials + ["host"] {
        request.setValue(nil, forHTTPHeaderField: name)
      }
    }
    request.url = url
    summary = summary.sentOn(to: url)
  }
}

extension HTTPRoute {
  /// The same route, whose next request is the one that interceptors make of it.
  func intercepted(by interceptors: [any HTTPInterceptor]) async throws -> HTTPRoute {
    if interceptors.isEmpty { return self }
    // A request that cannot be sent does not reach them.
    let url = try checkedURL()
    var original = request
    original.httpMethod = summary.method
    if case .data(let data) = body { original.httpBody = data }
    var changed = original
    for interceptor in interceptors {
      changed = try await interceptor.willSend(changed)
      try Task.checkCancellation()
    }
    guard changed.httpMethod?.uppercased() == summary.method else {
      throw badRequest("an interceptor has changed its method")
    }
    guard changed.url?.hasOrigin(of: url) == true else {
      throw badRequest("an interceptor has changed its server")
    }
    var route = self
    if changed.httpBody != original.httpBody {
      if body.isOutsideRequest {
        throw badRequest(
          "an interceptor has set a body, although the body is a file, a form or a sequence")
      }
      route.body = try HTTPRequestBody(takenFrom: &changed, of: summary)
    } else if changed.httpBody != nil {
      changed.httpBody = nil
    }
    route.request = changed
    return route
  }

  /// The headers that depend on the body and the connection.
  private static let unusedHeaders: Set = ["content-length", "transfer-encoding", "expect"]

  /// The `Accept-Encoding` of a request that has none of its own.
  static let codings =
    (["gzip", "deflate"] + LibraryDecoder.codings).joined(separator: ", ")

  /// The next request, for a transport.
  ///
  /// - Parameter configuration: Has the timeout of a request that has none.
  func transportRequest(
    with configuration: HTTPConfiguration, onNewConnection needsNewConnection: Bool,
    expectsLargeBody: Bool
  ) throws(HTTPTransferError) -> HTTPTransportRequest {
    let url = try checkedURL()
    let interval = request.timeoutInterval
    let isDefault = interval == 60 || !(interval > 0)
    return HTTPTransportRequest(
      url: url, method: summary.method, headers: try headers(), body: body.forTransport,
      timeout: isDefault ? configuration.timeout : .seconds(min(interval, 1e9)),
      needsNewConnection: needsNewConnection, expectsLargeBody: expectsLargeBody,
      unixSocket: configuration.unixSocket)
  }

  /// The URL of the next request, if that can be sent.
  private func checkedURL() throws(HTTPTransferError) -> URL {
    guard let url = request.url, ["http", "https"].contains(url.scheme?.lowercased()),
      url.host?.isEmpty == false
    else { throw badRequest("only http and https URLs can be requested") }
    if !Self.isToken(summary.method) { throw badRequest("its method is not valid") }
    if request.httpBodyStream != nil {
      throw badRequest("an httpBodyStream can be read only once: send data or a file")
    }
    return url
  }

  private func headers() throws(HTTPTransferError) -> HTTPHeaders {
    var headers = HTTPHeaders()
    // In a fixed order.
    let fields = (request.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }
    // A `URLRequest` drops values with line breaks, so the values of the session are checked, too.
    for (name, value) in fields + added.fields.map({ ($0.name, $0.value) }) {
      guard Self.isToken(name), !value.utf8.contains(where: { [0, 0x0A, 0x0D].contains($0) })
      else {
        throw badRequest(
          "its header \(name.debugDescription) has characters that are not allowed, "
            + "such as a line break: trim a text that was read from a file")
      }
    }
    for (name, value) in fields where !Self.unusedHeaders.contains(name.lowercased()) {
      headers.append(name, value)
    }
    // A part of a compressed body cannot be decompressed.
    let codings = headers["Range"] == nil ? Self.codings : "identity"
    for (name, value) in [
      ("Accept-Encoding", codings),
      ("User-Agent", "CompositeOperations/\(PackageVersion.current)"),
    ] where headers[name] == nil {
      headers.append(name, value)
    }
    return headers
  }

  /// Whether a text is a token (RFC 9110, section 5.6.2). Other texts could add lines to the
  /// request.
  private static func isToken(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy {
        $0 > 0x20 && $0 < 0x7F && !"\"(),/:;<=>?@[\\]{}".utf8.contains($0)
      }
  }

  private func badRequest(_ problem: String) -> HTTPTransferError {
    HTTPTransferError(HTTPTransportError(.badRequest(problem), wasSent: false), of: summary)
  }
}

extension URL {
  /// Whether scheme, host and port are the same.
  fileprivate func hasOrigin(of other: URL) -> Bool {
    scheme?.lowercased() == other.scheme?.lowercased()
      && host?.lowercased() == other.host?.lowercased()
      && (port ?? standardPort) == (other.port ?? other.standardPort)
  }

  /// The port of the scheme, if the URL has none.
  var standardPort: Int { scheme?.lowercased() == "https" ? 443 : 80 }
}
