import HTTPOperations

extension HostileAnswer {
  private static let ok = "HTTP/1.1 200 OK"
  private static let chunked = "Transfer-Encoding: chunked"
  private static let hello = "5\r\nhello\r\n0\r\n\r\n"
  private static let endlessText = Rest.endless([UInt8](repeating: 0x41, count: 65_536))

  private static func length(_ value: String, _ end: HostileEnd) -> HostileAnswer {
    HostileAnswer(
      "Content-Length: \(value.debugDescription)", head: [ok, "Content-Length:\(value)"], "hello",
      end)
  }

  private static func coding(_ value: String, _ end: HostileEnd) -> HostileAnswer {
    HostileAnswer(
      "Transfer-Encoding: \(value.debugDescription)", head: [ok, "Transfer-Encoding:\(value)"],
      hello, end)
  }

  private static func chunks(
    _ name: String, _ text: String, _ end: HostileEnd
  ) -> HostileAnswer {
    HostileAnswer(name, head: [ok, chunked], text, end)
  }

  /// Responses whose length is invalid, contradictory or not reached.
  static let lengths: [HostileAnswer] = [
    length(" 5", .text("hello")), length("5", .text("hello")), length("\t5 \t", .text("hello")),
    length(" 005", .text("hello")), length("", .invalid), length(" ", .invalid),
    length(" -1", .invalid), length(" -5", .invalid), length(" -9223372036854775808", .invalid),
    length(" +5", .invalid), length(" 0x5", .invalid), length(" 5 5", .invalid),
    length(" 5;", .invalid), length(" 5.0", .invalid), length(" 5e0", .invalid),
    length(" five", .invalid), length(" \u{B}5", .invalid), length(" ٥", .invalid),
    length(" \"5\"", .invalid), length(" 5,", .invalid), length(" ,5", .invalid),
    length(" 5, 5", .text("hello")), length(" 5, 6", .invalid), length(" 5,x", .invalid),
    length(" 9223372036854775808", .invalid), length(" 18446744073709551621", .invalid),
    length(" " + String(repeating: "9", count: 60), .invalid),
    length(" 9223372036854775807", .tooLarge(announced: .max)).download(.lost),
    length(" 6", .lost), length(" 4", .text("hell")), length(" 0", .text("")),
    HostileAnswer(
      "two equal lengths", head: [ok, "Content-Length: 5", "Content-Length: 5"], "hello",
      .text("hello")),
    HostileAnswer(
      "two different lengths", head: [ok, "Content-Length: 5", "Content-Length: 3"], "hello",
      .invalid),
    HostileAnswer(
      "two lengths, an invalid one", head: [ok, "Content-Length: 5", "Content-Length: x"], "hello",
      .invalid),
    HostileAnswer(
      "two responses", head: [ok, "Content-Length: 5"],
      "helloHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil", .text("hello")),
    HostileAnswer(
      "an announced length over the limit", head: [ok, "Content-Length: 1000"], "hello",
      .tooLarge(announced: 1_000)
    ).limited(to: 100).only(.data, .upload).then(.hold),
    HostileAnswer("an endless body", head: [ok], .tooLarge(announced: nil))
      .limited(to: 1 << 20).only(.data, .upload).then(endlessText),
    HostileAnswer(
      "an endless body with a length", head: [ok, "Content-Length: 1048576"],
      .body([UInt8](repeating: 0x41, count: 1 << 20))
    ).then(endlessText),
    HostileAnswer(
      "an endless body of an error", head: ["HTTP/1.1 404 Not Found"],
      .status(404, [UInt8](repeating: 0x41, count: 4_096))
    ).then(endlessText),
    HostileAnswer(
      "an endless body of a redirect", head: ["HTTP/1.1 302 Found", "Location: /target"],
      .text("target")
    ).then(endlessText),
    HostileAnswer(
      "a body that is reset", head: [ok, "Content-Length: 1000"], "hello", .lost
    ).then(.reset),
  ]

  /// Responses with a transfer coding.
  static let transferCodings: [HostileAnswer] = [
    coding(" chunked", .text("hello")), coding("chunked", .text("hello")),
    coding("\tchunked ", .text("hello")), coding(" Chunked", .text("hello")),
    coding("", .invalid), coding(" gzip", .invalid), coding(" gzip, chunked", .invalid),
    coding(" chunked, gzip", .invalid), coding(" chunked, chunked", .invalid),
    coding(" xchunked", .invalid), coding(" chunkedx", .invalid), coding(" chunked;q=1", .invalid),
    coding(" chunked,", .invalid), coding(" \u{B}chunked", .invalid),
    coding(" \"chunked\"", .invalid),
    // RFC 2616 had this coding for a body as it is. It ends with the connection.
    coding(" identity", .text(hello)),
    HostileAnswer("two transfer codings", head: [ok, chunked, chunked], hello, .invalid),
    HostileAnswer(
      "an identity and a chunked body", head: [ok, "Transfer-Encoding: identity", chunked], hello,
      .invalid),
    // RFC 9112, section 6.3: the coding overrides the length.
    HostileAnswer(
      "a length and a transfer coding", head: [ok, "Content-Length: 5", chunked], hello,
      .text("hello")),
    HostileAnswer(
      "a transfer coding and another length", head: [ok, chunked, "Content-Length: 3"], hello,
      .text("hello")),
    HostileAnswer(
      "an identity coding and a length",
      head: [ok, "Transfer-Encoding: identity", "Content-Length: 5"], "hello", .text("hello")),
    HostileAnswer("chunks of HTTP/1.0", head: ["HTTP/1.0 200 OK", chunked], hello, .text("hello")),
  ]

  /// Chunked responses.
  static let chunkedBodies: [HostileAnswer] = [
    chunks("no chunks", "0\r\n\r\n", .text("")),
    chunks("zeros before a size", "000005\r\nhello\r\n0\r\n\r\n", .text("hello")),
    chunks("a capital size", "A\r\nhellohello\r\n0\r\n\r\n", .text("hellohello")),
    chunks("a negative size", "-5\r\nhello\r\n0\r\n\r\n", .invalid),
    chunks("a positive sign", "+5\r\nhello\r\n0\r\n\r\n", .invalid),
    chunks("a size of 2^63 - 1", "7FFFFFFFFFFFFFFF\r\nhello", .lost),
    chunks("a size of 2^63", "8000000000000000\r\nhello", .invalid),
    chunks("a size of 2^64 - 1", "FFFFFFFFFFFFFFFF\r\nhello", .invalid),
    chunks("a size of 2^64", "10000000000000000\r\nhello", .invalid),
    chunks(
      "a size of 300 digits", String(repeating: "0", count: 299) + "5\r\nhello\r\n0\r\n\r\n",
      .invalid),
    chunks("a size that is text", "none\r\nhello\r\n0\r\n\r\n", .invalid),
    // libcurl ignores what follows the digits, here an F. So the chunk is too short.
    chunks("a size that begins with a digit", "five\r\nhello\r\n0\r\n\r\n", .lost),
    chunks("no size", "\r\nhello\r\n0\r\n\r\n", .invalid),
    chunks("a size with a prefix", "0x5\r\nhello\r\n0\r\n\r\n", .invalid),
    chunks("a space before a size", " 5\r\nhello\r\n0\r\n\r\n", .invalid),
    chunks("a space after a size", "5 \r\nhello\r\n0\r\n\r\n", .text("hello")),
    chunks("a minus after a size", "5-\r\nhello\r\n0\r\n\r\n", .text("hello")),
    chunks("an extension", "5;a=b\r\nhello\r\n0\r\n\r\n", .text("hello")),
    chunks("an extension with NUL", "5;a=\0\r\nhello\r\n0\r\n\r\n", .text("hello")),
    chunks(
      "an extension of 1 MB",
      "5;" + String(repeating: "a", count: 1 << 20) + "\r\nhello\r\n0\r\n\r\n", .text("hello")),
    chunks("line feeds only", "5\nhello\n0\n\n", .text("hello")),
    chunks("no line end after a chunk", "5\r\nhello0\r\n\r\n", .invalid),
    chunks("a chunk longer than its size", "5\r\nhello world\r\n0\r\n\r\n", .invalid),
    chunks("a chunk shorter than its size", "9\r\nhello\r\n0\r\n\r\n", .invalid),
    chunks("no last chunk", "5\r\nhello\r\n", .lost),
    chunks("a last chunk without a line end", "5\r\nhello\r\n0", .lost),
    chunks("a last chunk without an empty line", "5\r\nhello\r\n0\r\n", .lost),
    chunks("two last chunks", "5\r\nhello\r\n0\r\n0\r\n\r\n", .invalid),
    chunks("a body that is not chunked", "hello", .invalid),
    chunks("bytes after the end", hello + "evil", .text("hello")),
    chunks("a trailer", "5\r\nhello\r\n0\r\nDigest: x\r\nX: y\r\n\r\n", .text("hello")),
    chunks(
      "a trailer with a length", "5\r\nhello\r\n0\r\nContent-Length: 3\r\n\r\n", .text("hello")),
    chunks(
      "a trailer with a Location", "5\r\nhello\r\n0\r\nLocation: /evil\r\n\r\n", .text("hello")),
    chunks("a trailer without a colon", "5\r\nhello\r\n0\r\nDigest\r\n\r\n", .invalid),
    chunks("a trailer with NUL", "5\r\nhello\r\n0\r\nDigest: \0\r\n\r\n", .invalid),
    chunks("a trailer that is cut", "5\r\nhello\r\n0\r\nDig", .lost),
    chunks(
      "a trailer of 110 KB",
      "5\r\nhello\r\n0\r\nX: " + String(repeating: "x", count: 110_000) + "\r\n\r\n", .invalid),
    chunks("an endless trailer", "5\r\nhello\r\n0\r\n", .invalid).then(
      .endless(Array(String(repeating: "X: y\r\n", count: 10_000).utf8))),
    chunks("an endless trailer line", "5\r\nhello\r\n0\r\nX: ", .invalid).then(endlessText),
    // Nothing of the response is received meanwhile.
    chunks("an endless extension", "5;", .timedOut).then(endlessText).timingOut,
    chunks("endless empty lines in place of a size", "", .invalid).then(
      .endless(Array(String(repeating: "\r\n", count: 10_000).utf8))),
    chunks("endless zeros in a size", "", .invalid).then(
      .endless([UInt8](repeating: 0x30, count: 65_536))),
    chunks("endless chunks", "", .tooLarge(announced: nil)).limited(to: 100_000)
      .only(.data, .upload).then(
        .endless(Array(String(repeating: "1\r\nx\r\n", count: 10_000).utf8))),
    chunks("a silent connection in a chunk", "5\r\nhel", .timedOut).then(.hold).timingOut,
    chunks("a silent connection before the last chunk", "5\r\nhello\r\n", .timedOut)
      .then(.hold).timingOut,
    chunks("chunks on a connection that stays open", hello, .text("hello")).then(.hold),
  ]
}
