import HTTPOperations

extension HTTP2Answer {
  private static let gzip = compressed("hello")

  /// Valid responses, and those that HTTP/2 allows a client to accept.
  static let valid: [HTTP2Answer] = [
    HTTP2Answer("a valid response", block: HPACK.ok, .text("hello")),
    HTTP2Answer("404", block: HPACK.notFound, .status(404, Array("hello".utf8))),
    HTTP2Answer("headers only", .text("", status: 204)) {
      $0.send(.headers($1, HPACK.noContent, flags: HTTP2Frame.endHeaders | HTTP2Frame.endStream))
    },
    HTTP2Answer("a frame for each byte", .text("hello")) { connection, stream in
      connection.send(.headers(stream, HPACK.ok))
      for byte in ["h", "e", "l", "l", "o"] { connection.send(.data(stream, byte)) }
      connection.send(.data(stream, "", ends: true))
    },
    HTTP2Answer("padding", .text("hello")) {
      let flags = HTTP2Frame.endStream | HTTP2Frame.isPadded
      $0.send(
        .headers($1, HPACK.ok),
        HTTP2Frame(.data, flags: flags, stream: $1, [3] + Array("hello".utf8) + [0, 0, 0]))
    },
    HTTP2Answer("a trailer", .text("hello")) {
      let flags = HTTP2Frame.endHeaders | HTTP2Frame.endStream
      $0.send(
        .headers($1, HPACK.ok), .data($1, "hello"),
        .headers($1, HPACK.fields(("digest", "x")), flags: flags))
    },
    HTTP2Answer("103", .text("hello")) {
      $0.send(
        .headers($1, HPACK.fields((":status", "103"), ("link", "</a>"))),
        .headers($1, HPACK.ok), .data($1, "hello", ends: true))
    },
    HTTP2Answer("a continuation", .text("hello")) {
      $0.send(
        .headers($1, HPACK.ok, flags: 0),
        HTTP2Frame(
          .continuation, flags: HTTP2Frame.endHeaders, stream: $1, HPACK.fields(("x", "y"))),
        .data($1, "hello", ends: true))
    },
    HTTP2Answer("gzip", .text("hello")) {
      $0.send(
        .headers($1, HPACK.ok + HPACK.fields(("content-encoding", "gzip"))),
        HTTP2Frame(.data, flags: HTTP2Frame.endStream, stream: $1, gzip))
    },
    HTTP2Answer(
      "a length", block: HPACK.ok + HPACK.fields(("content-length", "5")), .text("hello")),
    HTTP2Answer("an unknown frame", .text("hello")) { _ in [HTTP2Frame(.unknown, [1, 2, 3])] },
    HTTP2Answer("a priority", .text("hello")) {
      [HTTP2Frame(.priority, stream: $0, [0, 0, 0, 0, 7])]
    },
    HTTP2Answer("100 pings", .text("hello")) { _ in
      Array(repeating: HTTP2Frame(.ping, [1, 2, 3, 4, 5, 6, 7, 8]), count: 100)
    },
    HTTP2Answer("100 settings", .text("hello")) { _ in
      Array(repeating: .settings((3, 100)), count: 100)
    },
    HTTP2Answer("1,000 empty frames", .text("hello")) {
      Array(repeating: .data($0, ""), count: 1_000)
    },
    HTTP2Answer("GOAWAY for later streams", .text("hello")) { [.goAway(last: $0, 0)] },
    HTTP2Answer("GOAWAY for streams above the maximum", .text("hello")) { _ in
      [.goAway(last: 0x7FFF_FFFF, 0)]
    },
  ]
}
