import Foundation
import HTTPOperations

extension HTTP2Answer {
  /// Frames that are not valid within a response.
  static let invalidFrames: [HTTP2Answer] = [
    inside("settings of 5 bytes") { _ in [HTTP2Frame(.settings, [0, 3, 0, 0, 0])] },
    inside("an acknowledgement with settings") { _ in
      [HTTP2Frame(.settings, flags: 1, [0, 3, 0, 0, 0, 1])]
    },
    inside("settings on a stream") {
      [HTTP2Frame(.settings, stream: $0, [0, 3, 0, 0, 0, 1])]
    },
    inside("a window above 2^31") { _ in [.settings((4, 0x8000_0000))] },
    inside("a maximum frame size of 1") { _ in [.settings((5, 1))] },
    inside("a push setting of 2") { _ in [.settings((2, 2))] },
    inside("a push setting of a server") { _ in [.settings((2, 1))] },
    inside("a ping of 7 bytes") { _ in [HTTP2Frame(.ping, [1, 2, 3, 4, 5, 6, 7])] },
    inside("a ping on a stream") {
      [HTTP2Frame(.ping, stream: $0, [1, 2, 3, 4, 5, 6, 7, 8])]
    },
    inside("a reset of 3 bytes") { [HTTP2Frame(.reset, stream: $0, [0, 0, 0])] },
    inside("a reset of stream 0") { _ in [.reset(0, 1)] },
    inside("a reset of an idle stream") { [.reset($0 + 40, 1)] },
    inside("GOAWAY of 7 bytes") { _ in [HTTP2Frame(.goAway, [0, 0, 0, 1, 0, 0, 0])] },
    inside("a priority of 4 bytes") {
      [HTTP2Frame(.priority, stream: $0, [0, 0, 0, 0])]
    },
    inside("a window update of 3 bytes") {
      [HTTP2Frame(.windowUpdate, stream: $0, [0, 0, 1])]
    },
    inside("a window update of 0") { [.windowUpdate($0, 0)] },
    inside("a window update of 0 for the connection") { _ in [.windowUpdate(0, 0)] },
    inside("a window that overflows") {
      [.windowUpdate($0, 0x7FFF_FFFF), .windowUpdate($0, 0x7FFF_FFFF)]
    },
    inside("a window of the connection that overflows") { _ in
      [.windowUpdate(0, 0x7FFF_FFFF), .windowUpdate(0, 0x7FFF_FFFF)]
    },
    inside("data on stream 0") { _ in [.data(0, "evil")] },
    inside("data on an idle stream") { [.data($0 + 40, "evil")] },
    inside("data on a stream of the server") { _ in [.data(2, "evil")] },
    inside("headers on stream 0") { _ in [.headers(0, HPACK.ok)] },
    inside("headers on a stream of the server") { _ in [.headers(2, HPACK.ok)] },
    inside("a continuation without headers") {
      [HTTP2Frame(.continuation, flags: 4, stream: $0, HPACK.ok)]
    },
    inside("more padding than data") {
      [HTTP2Frame(.data, flags: HTTP2Frame.isPadded, stream: $0, [200, 1, 2, 3])]
    },
    inside("a push") {
      [HTTP2Frame(.pushPromise, flags: 4, stream: $0, HTTP2Frame.bigEndian(2) + HPACK.ok)]
    },
    inside("a second head") { [.headers($0, HPACK.ok)] },
    inside("a frame of 20,000 bytes") {
      [.data($0, String(repeating: "a", count: 20_000))]
    },
  ]

  private static func inside(
    _ name: String, _ frames: @escaping @Sendable (UInt32) -> [HTTP2Frame]
  ) -> HTTP2Answer {
    HTTP2Answer(name, .lost) { connection, stream in
      connection.send(
        .headers(stream, HPACK.ok + HPACK.fields(("content-length", "5"))), .data(stream, "hel"))
      connection.send(frames(stream).flatMap(\.bytes))
      connection.send(.data(stream, "lo", ends: true))
    }.closing
  }

  /// Sequences of frames that are not valid or do not end.
  static let invalidSequences: [HTTP2Answer] = [
    HTTP2Answer("HTTP/1", .lost) { connection, _ in
      connection.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello".utf8))
    }.closing,
    HTTP2Answer("text", .lost) { connection, _ in
      connection.send([UInt8](repeating: 0x41, count: 100_000))
    }.closing,
    HTTP2Answer("zeros", .lost) { connection, _ in
      connection.send([UInt8](repeating: 0, count: 100_000))
    }.closing,
    HTTP2Answer("a frame of 16 MB", .lost) {
      $0.send(HTTP2Frame.bytes(0, 0, $1, length: 0xFF_FFFF))
    },
    HTTP2Answer("headers without their end, then data", .lost) {
      $0.send(.headers($1, HPACK.ok, flags: 0), .data($1, "hello", ends: true))
    },
    HTTP2Answer("data before the headers", .lost) {
      $0.send(.data($1, "hello"), .headers($1, HPACK.ok, flags: 5))
    },
    HTTP2Answer("more bytes than the length", .lost) {
      $0.send(
        .headers($1, HPACK.ok + HPACK.fields(("content-length", "3"))),
        .data($1, "hello", ends: true))
    },
    HTTP2Answer("data after the end", .text("hello")) {
      $0.send(.headers($1, HPACK.ok), .data($1, "hello", ends: true), .data($1, "evil"))
    },
    HTTP2Answer("a body with the status 204", .lost) {
      $0.send(.headers($1, HPACK.noContent), .data($1, "hello", ends: true))
    },
    HTTP2Answer("endless continuations", .lost) { connection, stream in
      connection.send(.headers(stream, HPACK.ok, flags: 0))
      endlessly(connection, HTTP2Frame(.continuation, stream: stream, HPACK.fields(("x", "y"))))
    },
    HTTP2Answer("endless empty continuations", .lost) { connection, stream in
      connection.send(.headers(stream, HPACK.ok, flags: 0))
      endlessly(connection, HTTP2Frame(.continuation, stream: stream))
    },
    HTTP2Answer("endless 103", .lost) {
      endlessly($0, .headers($1, HPACK.fields((":status", "103"), ("link", "</a>"))))
    },
    // Nothing of the response is received meanwhile. No faster than the client reads: libcurl 7.88
    // does not return while there are such frames, so its session has no timeouts.
    HTTP2Answer("endless empty frames", .timedOut) { connection, stream in
      connection.send(.headers(stream, HPACK.ok))
      while connection.send(.data(stream, "")) { usleep(1_000) }
    }.timingOut,
    HTTP2Answer("endless pings", .lost) {
      $0.send(.headers($1, HPACK.ok))
      endlessly($0, HTTP2Frame(.ping, [1, 2, 3, 4, 5, 6, 7, 8]))
    },
  ]

  private static func endlessly(_ connection: HTTP2Connection, _ frame: HTTP2Frame) {
    let frames = Array(repeatElement(frame.bytes, count: 1_000).joined())
    while connection.send(frames) {}
  }
}
