import HTTPOperations

extension HostileAnswer {
  private static let tooManyHeaders = Array(
    repeating: "X-Padding: " + String(repeating: "x", count: 1_000), count: 2_000)

  private static func latin1(_ text: String) -> [UInt8] {
    text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
  }

  private static let five = "Content-Length: 5"

  /// Responses that are no HTTP, or whose status line is unusual.
  static let statusLines: [HostileAnswer] = [
    HostileAnswer("nothing", "", .lost),
    HostileAnswer("nothing, with a reset", "", .lost).then(.reset),
    HostileAnswer("an empty line", "\r\n", .invalid),
    HostileAnswer("empty lines before the status", "\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", .invalid),
    HostileAnswer("text", "hello there, this is a text and no response", .invalid),
    HostileAnswer("a document", "<!DOCTYPE html><html></html>\r\n\r\n", .invalid),
    HostileAnswer("SMTP", "220 mail.example.org ESMTP\r\n", .invalid),
    HostileAnswer("SSH", "SSH-2.0-OpenSSH_9.2p1\r\n", .invalid),
    HostileAnswer("RTSP", head: ["RTSP/1.0 200 OK", five], "hello", .invalid),
    HostileAnswer("ICY", head: ["ICY 200 OK", five], "hello", .invalid),
    HostileAnswer("a TLS alert", [21, 3, 1, 0, 2, 2, 70], .invalid),
    HostileAnswer("SETTINGS of HTTP/2", [0, 0, 0, 4, 0, 0, 0, 0, 0], .invalid),
    HostileAnswer("zeros", [UInt8](repeating: 0, count: 4_096), .invalid),
    HostileAnswer("HTTP/0.9", head: ["HTTP/0.9 200 OK", five], "hello", .invalid),
    HostileAnswer("HTTP/3.0", head: ["HTTP/3.0 200 OK", five], "hello", .invalid),
    HostileAnswer("HTTP/3", head: ["HTTP/3 200 OK", five], "hello", .invalid),
    // libcurl accepts these two without HTTP/2. The rules for the end of the body stay the same.
    HostileAnswer("HTTP/2", head: ["HTTP/2 200 OK", five], "hello", .text("hello")),
    HostileAnswer("HTTP/2.0", head: ["HTTP/2.0 200 OK", five], "hello", .text("hello")),
    HostileAnswer("HTTP/1.9", head: ["HTTP/1.9 200 OK", five], "hello", .invalid),
    HostileAnswer("HTTP/11.1", head: ["HTTP/11.1 200 OK", five], "hello", .invalid),
    HostileAnswer("lower case", head: ["http/1.1 200 OK", five], "hello", .invalid),
    HostileAnswer("no version", head: ["HTTP/ 200 OK", five], "hello", .invalid),
    HostileAnswer("no status", head: ["HTTP/1.1", five], "hello", .invalid),
    HostileAnswer("an empty status", head: ["HTTP/1.1 ", five], "hello", .invalid),
    HostileAnswer("a space before", head: [" HTTP/1.1 200 OK", five], "hello", .invalid),
    HostileAnswer("two spaces", head: ["HTTP/1.1  200 OK", five], "hello", .invalid),
    HostileAnswer("a tab", head: ["HTTP/1.1\t200 OK", five], "hello", .invalid),
    HostileAnswer("status 000", head: ["HTTP/1.1 000 OK", five], "hello", .invalid),
    HostileAnswer("status 099", head: ["HTTP/1.1 099 OK", five], "hello", .invalid),
    HostileAnswer("status 99", head: ["HTTP/1.1 99 OK", five], "hello", .invalid),
    HostileAnswer("status 1000", head: ["HTTP/1.1 1000 OK", five], "hello", .invalid),
    HostileAnswer("status 2000", head: ["HTTP/1.1 2000 OK", five], "hello", .invalid),
    HostileAnswer("status 2xx", head: ["HTTP/1.1 2xx OK", five], "hello", .invalid),
    HostileAnswer("status -200", head: ["HTTP/1.1 -200 OK", five], "hello", .invalid),
    HostileAnswer("status +20", head: ["HTTP/1.1 +20 OK", five], "hello", .invalid),
    HostileAnswer("status 200OK", head: ["HTTP/1.1 200OK", five], "hello", .invalid),
    HostileAnswer("status 0x0", head: ["HTTP/1.1 0x0 OK", five], "hello", .invalid),
    HostileAnswer(
      "a status of 30 digits", head: ["HTTP/1.1 " + String(repeating: "2", count: 30), five],
      "hello", .invalid),
    // RFC 9110, section 15: treated as x00 of its class.
    HostileAnswer(
      "status 299", head: ["HTTP/1.1 299 OK", five], "hello", .text("hello", status: 299)),
    HostileAnswer(
      "status 999", head: ["HTTP/1.1 999 Denied", five], "hello", .status(999, Array("hello".utf8))),
    HostileAnswer("no reason", head: ["HTTP/1.1 200", five], "hello", .text("hello")),
    HostileAnswer("an empty reason", head: ["HTTP/1.1 200 ", five], "hello", .text("hello")),
    HostileAnswer(
      "a reason in Latin-1", latin1("HTTP/1.1 200 Gr\u{FC}n\r\nContent-Length: 5\r\n\r\nhello"),
      .text("hello")),
    HostileAnswer(
      "a reason with NUL", "HTTP/1.1 200 O\0K\r\nContent-Length: 5\r\n\r\nhello", .invalid),
    HostileAnswer(
      "an endless status line", "HTTP/1.1 200 ", .invalid
    ).then(.endless([UInt8](repeating: 0x41, count: 65_536))),
    HostileAnswer("endless text", "", .invalid).then(
      .endless([UInt8](repeating: 0x41, count: 65_536))),
    HostileAnswer("endless empty lines", "", .invalid).then(
      .endless([UInt8](repeating: 0x0A, count: 65_536))),
  ]

  /// Responses with unusual headers.
  static let headers: [HostileAnswer] = [
    HostileAnswer(
      "line feeds only", "HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", .text("hello")),
    HostileAnswer(
      "mixed line ends", "HTTP/1.1 200 OK\nX: a\r\nContent-Length: 5\n\r\nhello", .text("hello")),
    HostileAnswer(
      "carriage returns only", "HTTP/1.1 200 OK\rContent-Length: 5\r\rhello", .lost),
    HostileAnswer(
      "a value in Latin-1",
      latin1("HTTP/1.1 200 OK\r\nX: \u{E9}\r\nContent-Length: 5\r\n\r\nhello"),
      .text("hello")),
    HostileAnswer(
      "a value in UTF-8", head: ["HTTP/1.1 200 OK", "X: é😀", five], "hello", .text("hello")),
    HostileAnswer("NUL in a value", head: ["HTTP/1.1 200 OK", "X: a\0b", five], "hello", .invalid),
    HostileAnswer("NUL in a name", head: ["HTTP/1.1 200 OK", "X\0Y: a", five], "hello", .invalid),
    HostileAnswer(
      "a bare CR in a value", head: ["HTTP/1.1 200 OK", "X: a\rb", five], "hello", .invalid),
    HostileAnswer(
      "a bare CR before a header",
      head: ["HTTP/1.1 200 OK", "X: a\rTransfer-Encoding: chunked", five],
      "hello", .invalid),
    HostileAnswer(
      "CR CR LF", "HTTP/1.1 200 OK\r\nX: a\r\r\nContent-Length: 5\r\n\r\nhello", .invalid),
    HostileAnswer("no colon", head: ["HTTP/1.1 200 OK", "X", five], "hello", .invalid),
    HostileAnswer("an empty name", head: ["HTTP/1.1 200 OK", ": a", five], "hello", .invalid),
    HostileAnswer(
      "a space before the colon", head: ["HTTP/1.1 200 OK", "X : a", five], "hello", .invalid),
    HostileAnswer(
      "a space before the colon of a length", head: ["HTTP/1.1 200 OK", "Content-Length : 5"],
      "hello", .invalid),
    HostileAnswer(
      "a space in a name", head: ["HTTP/1.1 200 OK", "X Y: a", five], "hello", .invalid),
    HostileAnswer(
      "a control in a name", head: ["HTTP/1.1 200 OK", "X\u{1}: a", five], "hello", .invalid),
    HostileAnswer(
      "an empty value", head: ["HTTP/1.1 200 OK", "X:", five], "hello", .text("hello")),
    HostileAnswer(
      "a folded value", head: ["HTTP/1.1 200 OK", "X: a", " b", "\tc", five], "hello",
      .text("hello")),
    HostileAnswer(
      "a folded status line", head: ["HTTP/1.1 200 OK", " X: a", five], "hello", .invalid),
    // libcurl reads each line by itself, and would take such a body for one without a length.
    HostileAnswer(
      "a folded transfer coding", head: ["HTTP/1.1 200 OK", "Transfer-Encoding:", " chunked"],
      "5\r\nhello\r\n0\r\n\r\n", .invalid),
    HostileAnswer(
      "a transfer coding with a folded coding",
      head: ["HTTP/1.1 200 OK", "Transfer-Encoding: chunked", " , gzip"],
      "5\r\nhello\r\n0\r\n\r\n", .invalid),
    HostileAnswer(
      "a folded length", head: ["HTTP/1.1 200 OK", "Content-Length:", " 5"], "hello", .invalid),
    HostileAnswer(
      "a length with a folded digit", head: ["HTTP/1.1 200 OK", "Content-Length: 5", " 0"],
      "hello", .invalid),
    HostileAnswer(
      "a length in a folded line", head: ["HTTP/1.1 200 OK", five, "X: a", " Content-Length: 3"],
      "hello", .text("hello")),
    HostileAnswer(
      "a line of 90 KB",
      head: ["HTTP/1.1 200 OK", "X: " + String(repeating: "x", count: 90_000), five], "hello",
      .text("hello")),
    HostileAnswer(
      "a line of 110 KB",
      head: ["HTTP/1.1 200 OK", "X: " + String(repeating: "x", count: 110_000), five], "hello",
      .invalid),
    HostileAnswer(
      "10,000 headers",
      head: ["HTTP/1.1 200 OK"] + (0..<10_000).map { "X\($0): y" } + [five], "hello",
      .text("hello")),
    HostileAnswer(
      "2 MB of headers", head: ["HTTP/1.1 200 OK"] + tooManyHeaders + [five], "hello", .invalid),
    HostileAnswer("an endless header", "HTTP/1.1 200 OK\r\nX: ", .invalid).then(
      .endless([UInt8](repeating: 0x41, count: 65_536))),
    HostileAnswer("endless headers", "HTTP/1.1 200 OK\r\n", .invalid).then(
      .endless(Array(String(repeating: "X: y\r\n", count: 10_000).utf8))),
    HostileAnswer("an endless folded header", "HTTP/1.1 200 OK\r\nX: a\r\n", .invalid).then(
      .endless(Array(String(repeating: " y\r\n", count: 10_000).utf8))),
    HostileAnswer("a silent connection", "", .timedOut).then(.hold).timingOut,
    HostileAnswer("a silent connection in the head", "HTTP/1.1 200 OK\r\n", .timedOut)
      .then(.hold).timingOut,
    HostileAnswer(
      "a silent connection in the body", head: ["HTTP/1.1 200 OK", five], "hell", .timedOut
    ).then(.hold).timingOut,
  ]

  /// Informational responses.
  static let informational: [HostileAnswer] = [
    HostileAnswer("only 100", head: ["HTTP/1.1 100 Continue"], .lost),
    HostileAnswer("only 103", head: ["HTTP/1.1 103 Early Hints", "Link: </a>"], .lost),
    HostileAnswer(
      "199", head: ["HTTP/1.1 199 Other", "", "HTTP/1.1 200 OK", five], "hello", .text("hello")),
    HostileAnswer(
      "1,000 of 100",
      head: (0..<1_000).flatMap { _ in ["HTTP/1.1 100 Continue", ""] } + ["HTTP/1.1 200 OK", five],
      "hello", .text("hello")),
    HostileAnswer("endless 100", "", .invalid).then(
      .endless(Array(String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 1_000).utf8))),
    HostileAnswer("endless 103", "", .invalid).then(
      .endless(
        Array(String(repeating: "HTTP/1.1 103 Hints\r\nLink: </a>\r\n\r\n", count: 1_000).utf8))),
    HostileAnswer(
      "101", head: ["HTTP/1.1 101 Switching Protocols", "Upgrade: x"], "hello", .invalid),
    HostileAnswer(
      "101 to HTTP/2",
      head: ["HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", "Upgrade: h2c"],
      [0, 0, 0, 4, 0, 0, 0, 0, 0], .invalid),
    HostileAnswer(
      "101 and 200",
      head: ["HTTP/1.1 101 Switching Protocols", "", "HTTP/1.1 200 OK", five], "hello", .invalid),
    HostileAnswer("101, kept open", head: ["HTTP/1.1 101 Switching Protocols"], .invalid)
      .then(.hold),
    HostileAnswer("101, endless", head: ["HTTP/1.1 101 Switching Protocols"], .invalid)
      .then(.endless([UInt8](repeating: 0x41, count: 65_536))),
    HostileAnswer(
      "100 with a length, then a body until close",
      head: ["HTTP/1.1 100 Continue", "Content-Length: 3", "", "HTTP/1.1 200 OK"], "hello",
      .text("hello")),
    HostileAnswer(
      "100 with another length",
      head: ["HTTP/1.1 100 Continue", "Content-Length: 3", "", "HTTP/1.1 200 OK", five], "hello",
      .text("hello")),
    HostileAnswer(
      "103 with a transfer coding",
      head: ["HTTP/1.1 103 Hints", "Transfer-Encoding: chunked", "", "HTTP/1.1 200 OK", five],
      "hello", .text("hello")),
    HostileAnswer(
      "103 with a content coding",
      head: ["HTTP/1.1 103 Hints", "Content-Encoding: gzip", "", "HTTP/1.1 200 OK", five],
      "hello", .text("hello")),
    HostileAnswer(
      "103 with a Location",
      head: ["HTTP/1.1 103 Hints", "Location: /target", "", "HTTP/1.1 200 OK", five], "hello",
      .text("hello")),
  ]

  /// Responses that have no body.
  static let withoutBodies: [HostileAnswer] = [
    HostileAnswer(
      "204 with a body", head: ["HTTP/1.1 204 No Content", five], "hello", .text("", status: 204)),
    HostileAnswer(
      "204 with chunks", head: ["HTTP/1.1 204 No Content", "Transfer-Encoding: chunked"],
      "5\r\nhello\r\n0\r\n\r\n", .text("", status: 204)),
    HostileAnswer(
      "304 with a body", head: ["HTTP/1.1 304 Not Modified", five], "hello",
      .text("", status: 304)
    ).only(.data, .upload),
    HostileAnswer(
      "HEAD with a body", head: ["HTTP/1.1 200 OK", five], "hello", .text("")
    ).only(.head),
    HostileAnswer(
      "HEAD with chunks", head: ["HTTP/1.1 200 OK", "Transfer-Encoding: chunked"],
      "5\r\nhello\r\n0\r\n\r\n", .text("")
    ).only(.head),
    HostileAnswer(
      "HEAD with a coding", head: ["HTTP/1.1 200 OK", "Content-Encoding: br", five], .text("")
    ).only(.head).then(.hold),
    HostileAnswer("HEAD cut in the head", "HTTP/1.1 200 OK\r\nX: a\r\n", .lost).only(.head),
    HostileAnswer(
      "205 with a body", head: ["HTTP/1.1 205 Reset Content", five], "hello",
      .text("hello", status: 205)),
    HostileAnswer(
      "an endless body after 204", head: ["HTTP/1.1 204 No Content"], .text("", status: 204)
    ).then(.endless([UInt8](repeating: 0x41, count: 65_536))),
  ]
}
