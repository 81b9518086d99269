import HTTPOperations

extension HTTP2Answer {
  private static func headers(_ block: [UInt8], _ name: String) -> HTTP2Answer {
    HTTP2Answer(name, block: block, .lost)
  }

  /// - Parameter field: A header beside a valid status.
  private static func header(_ field: (String, String), _ name: String) -> HTTP2Answer {
    headers(HPACK.ok + HPACK.fields(field), name)
  }

  private static func status(_ value: String) -> HTTP2Answer {
    headers(HPACK.fields((":status", value)), "status \(value)")
  }

  /// Headers that are not valid.
  static let invalidHeaders: [HTTP2Answer] = [
    headers(HPACK.fields(("x", "y")), "no status"), headers([], "an empty block"),
    headers(HPACK.ok + HPACK.ok, "two statuses"),
    status("abc"), status("20"), status("2000"), status("101"),
    HTTP2Answer("status 000", block: HPACK.fields((":status", "000")), .invalid),
    headers(HPACK.fields(("x", "y")) + HPACK.ok, "a status after a header"),
    header((":path", "/"), "a path"), header((":x", "y"), "an unknown pseudo-header"),
    header(("X", "y"), "an upper-case name"), header(("", "y"), "an empty name"),
    header(("x y", "z"), "a space in a name"), header(("x:y", "z"), "a colon in a name"),
    header(("x", "a\0b"), "NUL in a value"), header(("x", "a\nb: c"), "a line feed in a value"),
    header(("x", "a\r\n\r\nb"), "an empty line in a value"),
    header(("transfer-encoding", "chunked"), "a transfer coding"),
    header(("connection", "close"), "a connection header"),
    header(("content-length", "x"), "a length that is text"),
    header(("content-length", "-1"), "a negative length"),
    header(("content-length", "9223372036854775808"), "a length of 2^63"),
    headers(
      HPACK.ok + HPACK.fields(("content-length", "5"), ("content-length", "6")), "two lengths"),
    headers(HPACK.ok + [0x80], "index 0"),
    headers(HPACK.ok + [0xFF, 0x80, 0x01], "an index out of range"),
    headers(HPACK.ok + [UInt8](repeating: 0xFF, count: 11), "an index of 70 bits"),
    headers(HPACK.ok + [0, 5, 0x61], "a name that is cut"),
    headers(HPACK.ok + [0, 1, 0x61, 5, 0x61], "a value that is cut"),
    headers(HPACK.ok + [0, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xF], "a name of 4 GB"),
    headers(HPACK.ok + [0, 0x81, 0xFF, 1, 0x61], "an invalid Huffman code"),
    headers([0x3F, 0xFF, 0xFF, 0x7F] + HPACK.ok, "a table size above the limit"),
    headers([0x12, 0x9F, 0xE3, 0x07, 0xFC, 0x41, 0x00, 0xA9], "random bytes"),
  ]
}
