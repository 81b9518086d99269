extension HostileRequest {
  static let lines: [HostileRequest] = [
    .line("an unknown method", "BREW / HTTP/1.1", 501),
    .line("a method in lower case", "get / HTTP/1.1", 501),
    .line("a method of WebDAV", "PROPFIND / HTTP/1.1", 501),
    .line("a method of 10 KB", String(repeating: "A", count: 10_000) + " / HTTP/1.1", 501),
    .line("TRACE", "TRACE / HTTP/1.1", 405), .line("OPTIONS", "OPTIONS * HTTP/1.1", 405),
    .line("CONNECT", "CONNECT evil.example:443 HTTP/1.1", 405),
    .line("no method", " / HTTP/1.1", 400, 501, 0),
    .line("a tab in place of a space", "GET\t/\tHTTP/1.1", 400, 0),
    .line("a zero byte in the method", "GE\0T / HTTP/1.1", 400, 501, 0),
    .line("version 0.9", "GET /", 400, 505, 0),
    HostileRequest("version 0.9 without a header", "GET /\r\n", 400, 505, 0),
    .line("version 2.0", "GET / HTTP/2.0", 505, 400, 0),
    .line("version 1.9", "GET / HTTP/1.9", 505, 400, 0),
    .line("a version that is no number", "GET / HTTP/x.y", 505, 400, 0),
    .line("a version in lower case", "GET / http/1.1", 505, 400, 0),
    .line("another protocol", "GET / ICY/1.1", 505, 400, 0),
    .line("a version with more text", "GET / HTTP/1.1 x", 400, 0),
    HostileRequest(
      "the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, 501, 400, 0),
    HostileRequest("bytes of all values", bytes: Array(0...255), [400, 0]),
    HostileRequest("4 KB of zero bytes", bytes: Array(repeating: 0, count: 4_096), [400, 0]),
    HostileRequest(
      "1 MB without a line break", bytes: Array(repeating: 0x41, count: 1 << 20), [414, 431, 0]),
    HostileRequest(
      "10,000 empty lines", bytes: Array(repeating: 0x0A, count: 10_000), [400, 0]),
    HostileRequest(
      "a TLS handshake",
      bytes: [22, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3] + Array(repeating: 7, count: 194), [400, 0]),
    HostileRequest("the greeting of SSH", "SSH-2.0-OpenSSH_9.2\r\n", 400, 0),
    .target("http://evil.example/", 400), .target("http://{host}/", 400), .target("*", 400),
    .target("evil.example:80", 400), .target("path", 400), .target("?a=b", 400),
    .target("/../etc/passwd", 400), .target("/a/../../b", 400), .target("/.", 400),
    .target("/%2e%2e/etc/passwd", 400), .target("/..%2fetc", 400), .target("/a/%2E/b", 400),
    .target("/%", 400), .target("/%4", 400), .target("/%zz", 400), .target("/%+1", 400),
    .target("/%u0041", 400), .target("/%00", 400), .target("/a%00.html", 400),
    .target("/%0d%0aSet-Cookie:%20a", 400), .target("/%7f", 400),
    // Overlong, surrogate, incomplete and beyond Unicode.
    .target("/%c0%af", 400), .target("/%c0%ae%c0%ae/", 400), .target("/%e0%80%af", 400),
    .target("/%ed%a0%80", 400), .target("/%ff", 400), .target("/%e2%82", 400),
    .target("/%f4%90%80%80", 400), .target("/ä", 400), .target("/a#b", 400),
    .target("/a b", 400, 0), .target("/a\u{7F}", 400), .target("/a\0b", 400),
    .target("/?a=%zz", 400), .target("/?a=%00", 400), .target("/?%c0%af=1", 400),
    .target("/" + String(repeating: "a", count: 20_000), 414, 431),
    .target("/" + String(repeating: "a", count: 200_000), 414, 431, 0),
    .target("//evil.example/", 200), .target("/%252e%252e/", 200),
    .target("/'\"<script>alert(1)</script>", 200),
  ]

  static let all = headers + origins + bodies + lines
}
