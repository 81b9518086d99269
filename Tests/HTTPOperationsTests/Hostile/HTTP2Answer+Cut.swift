import HTTPOperations

extension HTTP2Answer {
  private static let gzip = compressed("hello")

  /// Responses that end too early.
  static let cut: [HTTP2Answer] = closed + (0...13).flatMap { stopped($0) }

  private static let closed: [HTTP2Answer] = [
    HTTP2Answer("closed without a response", .lost) { _, _ in }.closing,
    HTTP2Answer("closed after the headers", .lost) { $0.send(.headers($1, HPACK.ok)) }.closing,
    HTTP2Answer("closed within the headers", .lost) {
      $0.send(Array(HTTP2Frame.headers($1, HPACK.ok).bytes.dropLast()))
    }.closing,
    HTTP2Answer("closed within the body", .lost) {
      $0.send(.headers($1, HPACK.ok), .data($1, "hel"))
    }.closing,
    HTTP2Answer("closed before the end of the stream", .lost) {
      $0.send(.headers($1, HPACK.ok), .data($1, "hello"))
    }.closing,
    // Everything that was announced has been received.
    HTTP2Answer("the length, without the end of the stream", .text("hello")) {
      $0.send(.headers($1, HPACK.ok + HPACK.fields(("content-length", "5"))), .data($1, "hello"))
    },
    HTTP2Answer("closed within a frame", .lost) {
      $0.send(.headers($1, HPACK.ok))
      $0.send(HTTP2Frame.bytes(0, 1, $1, length: 100) + Array("hello".utf8))
    }.closing,
    HTTP2Answer("silent", .timedOut) { _, _ in }.timingOut,
    HTTP2Answer("silent within the body", .timedOut) {
      $0.send(.headers($1, HPACK.ok), .data($1, "hel"))
    }.timingOut,
    HTTP2Answer("gzip without its end", .lost) {
      $0.send(
        .headers($1, HPACK.ok + HPACK.fields(("content-encoding", "gzip"))),
        HTTP2Frame(.data, flags: HTTP2Frame.endStream, stream: $1, gzip.dropLast()))
    },
    HTTP2Answer("fewer bytes than the length", .lost) {
      $0.send(
        .headers($1, HPACK.ok + HPACK.fields(("content-length", "6"))),
        .data($1, "hello", ends: true))
    },
    HTTP2Answer("refused once", .text("hello")) { $0.send(.reset($1, 7)) }.once,
    HTTP2Answer("GOAWAY on an open connection", .lost) { $0.send(.goAway(last: $1 - 1, 0)) },
  ]

  /// - Parameter code: A code of RFC 9113, section 7.
  private static func stopped(_ code: UInt32) -> [HTTP2Answer] {
    [
      HTTP2Answer("reset \(code) before the headers", .lost) { $0.send(.reset($1, code)) },
      HTTP2Answer("reset \(code) after the headers", .lost) {
        $0.send(.headers($1, HPACK.ok), .reset($1, code))
      },
      HTTP2Answer("reset \(code) within the body", .lost) {
        $0.send(.headers($1, HPACK.ok), .data($1, "hel"), .reset($1, code))
      },
      HTTP2Answer("GOAWAY \(code) before the headers", .lost) {
        $0.send(.goAway(last: $1 - 1, code))
      }.closing,
      HTTP2Answer("GOAWAY \(code) within the body", .lost) {
        $0.send(.headers($1, HPACK.ok), .data($1, "hel"), .goAway(last: $1 - 1, code))
      }.closing,
    ]
  }
}
