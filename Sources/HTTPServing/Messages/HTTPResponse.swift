/// The response of a handler.
package struct HTTPResponse: Sendable {
  /// Sends events until it returns, or until it is cancelled because the client has gone or the
  /// server stops.
  package typealias EventProducer = @Sendable (EventSink) async -> Void

  package enum Body: Sendable {
    case bytes([UInt8])
    /// The bytes that a file has now. They are read while they are sent; if the file becomes shorter, the
    /// connection is closed.
    case file(ResponseFile)
    /// A stream of server-sent events. The connection is closed at its end.
    case events(EventProducer)
  }

  package let status: Int
  package private(set) var headers: [HTTPHeader]
  package let body: Body

  /// Creates a response.
  ///
  /// - Parameters:
  ///   - type: The type of the body.
  ///   - body: The bytes of the body.
  ///   - status: The status, from 200 to 599.
  package init(_ type: MediaType, _ body: [UInt8], status: Int = 200) {
    precondition((200...599).contains(status), "`status` must be from 200 to 599 (was \(status))")
    self.status = status
    headers = [HTTPHeader(trusted: "Content-Type", type.text)]
    self.body = .bytes(body)
  }

  package init(_ type: MediaType, _ text: String, status: Int = 200) {
    self.init(type, Array(text.utf8), status: status)
  }

  /// Creates a response with the contents of a file.
  package init(_ type: MediaType, _ file: ResponseFile) {
    status = 200
    headers = [HTTPHeader(trusted: "Content-Type", type.text)]
    body = .file(file)
  }

  private init(status: Int, headers: [HTTPHeader], body: Body) {
    (self.status, self.headers, self.body) = (status, headers, body)
  }

  /// Returns a stream of server-sent events.
  package static func events(_ produce: @escaping EventProducer) -> HTTPResponse {
    HTTPResponse(
      status: 200, headers: [HTTPHeader(trusted: "Content-Type", MediaType.eventStream.text)],
      body: .events(produce))
  }

  /// Returns a redirect to a path of this server, which is then requested with GET.
  package static func redirect(to path: String) -> HTTPResponse {
    // Two slashes would begin the name of another host.
    let target = "/" + PercentEncoding.encoded(target: path).drop { $0 == "/" }
    return HTTPResponse(
      status: 303, headers: [HTTPHeader(trusted: "Location", target)], body: .bytes([]))
  }

  /// Returns this response with another field in its header.
  package func adding(_ header: HTTPHeader) -> HTTPResponse {
    var response = self
    response.headers.append(header)
    return response
  }

  /// The response to HEAD, whose events are not sent.
  var withoutEvents: HTTPResponse {
    guard case .events = body else { return self }
    return HTTPResponse(status: status, headers: headers, body: .bytes([]))
  }

  init(_ refusal: RequestRefusal) {
    self.init(.text, refusal.description + "\n", status: refusal.status)
    if !refusal.allowed.isEmpty {
      headers.append(HTTPHeader(trusted: "Allow", refusal.allowed.joined(separator: ", ")))
    }
  }
}

/// The type of the body of a response.
package struct MediaType: Sendable, Hashable {
  let text: String

  private init(_ text: String) { self.text = text }

  package static let css = MediaType("text/css; charset=utf-8")
  package static let html = MediaType("text/html; charset=utf-8")
  package static let javaScript = MediaType("text/javascript; charset=utf-8")
  package static let json = MediaType("application/json")
  package static let svg = MediaType("image/svg+xml")
  /// The text format of Prometheus.
  package static let metrics = MediaType("text/plain; version=0.0.4; charset=utf-8")
  package static let text = MediaType("text/plain; charset=utf-8")
  static let eventStream = MediaType("text/event-stream")
}
