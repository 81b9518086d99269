import LoopbackServer

/// The server's end of a connection of HTTP/2.
final class HTTP2Connection {
  private let connection: LoopbackConnection
  private var received: [UInt8]
  /// The body of the last request.
  private(set) var body: [UInt8] = []

  /// - Parameter request: The preface, which looks like a request of HTTP/1.
  init(_ request: LoopbackRequest, _ connection: LoopbackConnection) {
    self.connection = connection
    received = Array(request.body)
  }

  @discardableResult func send(_ frames: HTTP2Frame...) -> Bool {
    connection.send(frames.flatMap(\.bytes))
  }

  @discardableResult func send(_ bytes: [UInt8]) -> Bool { connection.send(bytes) }

  func waitForClose() { connection.waitForClose() }

  /// Reads the rest of the preface and sends settings.
  func begin() {
    _ = take("SM\r\n\r\n".utf8.count)
    send(.settings())
  }

  /// Reads frames until the end of a request, and acknowledges settings and pings.
  ///
  /// - Returns: The stream of the request; nil if the client has closed the connection.
  func nextRequest() -> UInt32? {
    body = []
    while let frame = nextFrame() {
      if frame.kind == HTTP2Frame.Kind.data.rawValue { body += frame.payload }
      switch HTTP2Frame.Kind(rawValue: frame.kind) {
      case .settings where !frame.has(HTTP2Frame.isAck):
        send(HTTP2Frame(.settings, flags: HTTP2Frame.isAck))
      case .ping where !frame.has(HTTP2Frame.isAck):
        send(HTTP2Frame(.ping, flags: HTTP2Frame.isAck, frame.payload))
      case .headers where frame.has(HTTP2Frame.endStream),
        .data where frame.has(HTTP2Frame.endStream):
        return frame.stream
      default: break
      }
    }
    return nil
  }

  private func nextFrame() -> HTTP2Frame? {
    guard let header = take(9) else { return nil }
    let length = header[..<3].reduce(0) { $0 << 8 | Int($1) }
    guard let payload = take(length) else { return nil }
    let stream = header[5...].reduce(0) { $0 << 8 | UInt32($1) }
    return HTTP2Frame(header[3], flags: header[4], stream: stream, payload)
  }

  private func take(_ count: Int) -> [UInt8]? {
    while received.count < count {
      guard let bytes = connection.receive() else { return nil }
      received += bytes
    }
    defer { received.removeFirst(count) }
    return Array(received[..<count])
  }
}
