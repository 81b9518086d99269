import HTTPOperations

/// The behavior of a hostile server of HTTP/2, and how a GET must end.
struct HTTP2Answer: Sendable {
  let name: String
  var end: HostileEnd
  /// Whether the server reads frames when it has answered, until the client closes the connection.
  var staysOpen = true
  /// Whether the session has a timeout of 1 s.
  var hasShortTimeout = false
  /// Whether only the first request gets this response, and further ones a valid one.
  var isOnce = false
  let send: @Sendable (HTTP2Connection, UInt32) -> Void

  init(
    _ name: String, _ end: HostileEnd, _ send: @escaping @Sendable (HTTP2Connection, UInt32) -> Void
  ) {
    self.name = name
    self.end = end
    self.send = send
  }

  /// A response with a header block, and the text `hello` as its body.
  init(_ name: String, block: [UInt8], _ end: HostileEnd) {
    self.init(name, end) { $0.send(.headers($1, block), .data($1, "hello", ends: true)) }
  }

  /// Frames in the middle of a valid response.
  init(
    _ name: String, _ end: HostileEnd, inside frames: @escaping @Sendable (UInt32) -> [HTTP2Frame]
  ) {
    self.init(name, end) { connection, stream in
      connection.send(.headers(stream, HPACK.ok), .data(stream, "hel"))
      connection.send(frames(stream).flatMap(\.bytes))
      connection.send(.data(stream, "lo", ends: true))
    }
  }

  var closing: HTTP2Answer { with { $0.staysOpen = false } }
  var timingOut: HTTP2Answer { with { $0.hasShortTimeout = true } }
  var once: HTTP2Answer { with { $0.isOnce = true } }

  private func with(_ change: (inout HTTP2Answer) -> Void) -> HTTP2Answer {
    var answer = self
    change(&answer)
    return answer
  }
}
