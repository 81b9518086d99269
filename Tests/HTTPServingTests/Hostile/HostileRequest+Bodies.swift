extension HostileRequest {
  static let bodies: [HostileRequest] = [
    .post(
      "a length and chunks", "Content-Length: 3\r\nTransfer-Encoding: chunked", "0\r\n\r\n", 400),
    .post(
      "chunks and a length", "Transfer-Encoding: chunked\r\nContent-Length: 3", "0\r\n\r\n", 400),
    .post("two lengths", "Content-Length: 3\r\nContent-Length: 4", "abcd", 400),
    .post("the same length twice", "Content-Length: 3\r\nContent-Length: 3", "abc", 400),
    .post("a list of lengths", "Content-Length: 3, 3", "abc", 400),
    .post("a negative length", "Content-Length: -1", "", 400),
    .post("a length with a sign", "Content-Length: +3", "abc", 400),
    .post("a hexadecimal length", "Content-Length: 0x3", "abc", 400),
    .post("a length with a fraction", "Content-Length: 3.0", "abc", 400),
    .post("a length that is no number", "Content-Length: many", "abc", 400),
    .post("an empty length", "Content-Length:", "abc", 400),
    .post("a length beyond 64 bits", "Content-Length: 99999999999999999999", "", 413, 400),
    .post("a length of 9 exabytes", "Content-Length: 9223372036854775807", "", 413),
    .post("a length of 2 MB, not sent", "Content-Length: 2000000", "", 413),
    .post("a length of 2 MB, sent", "Content-Length: 2000000", large, 413, 0),
    .post("a body that ends early", "Content-Length: 10", "abc", 0),
    .post("another encoding", "Transfer-Encoding: gzip", "abc", 501),
    .post("a list of encodings", "Transfer-Encoding: gzip, chunked", "0\r\n\r\n", 501),
    .post("chunks twice", "Transfer-Encoding: chunked, chunked", "0\r\n\r\n", 501),
    .post("two encodings", "Transfer-Encoding: chunked\r\nTransfer-Encoding: x", "0\r\n\r\n", 400),
    .post("no encoding", "Transfer-Encoding: identity", "abc", 501),
    .post("an encoding with a tab", "Transfer-Encoding: \tchunked", "0\r\n\r\n", 400),
    .post("a hidden encoding", "Transfer-Encoding : chunked", "0\r\n\r\n", 400),
    .chunks("a chunk size that is no number", "zz\r\nabc\r\n0\r\n\r\n", 400, 0),
    .chunks("a negative chunk size", "-1\r\nabc\r\n0\r\n\r\n", 400, 0),
    .chunks("a chunk size beyond 64 bits", "fffffffffffffffffffff\r\nabc\r\n", 413, 400, 0),
    .chunks("a chunk size of 16 exabytes", "ffffffffffffffff\r\nabc\r\n", 413, 400, 0),
    .chunks("an empty chunk size", "\r\nabc\r\n0\r\n\r\n", 400, 0),
    .chunks("a chunk with more bytes", "3\r\nabcdef\r\n0\r\n\r\n", 400, 0),
    .chunks("a chunk without its end", "3\r\nabc", 0),
    .chunks("chunks without the last one", "3\r\nabc\r\n", 0),
    .chunks("a chunk size of 10 KB", String(repeating: "0", count: 10_000) + "1\r\na\r\n", 400, 0),
    .chunks("chunks of 2 MB", "1e8480\r\n\(large)\r\n0\r\n\r\n", 413),
    .chunks("chunks of 8 MB", String(repeating: "1e8480\r\n\(large)\r\n", count: 4), 413, 0),
    .chunks("a chunk with an extension", "3;a=b\r\nabc\r\n0\r\n\r\n", 200, 400),
    .chunks("chunks with a trailer", "3\r\nabc\r\n0\r\nHost: evil\r\n\r\n", 200, 400),
    HostileRequest(
      "a second request in the body of a refused one",
      "GET /%zz HTTP/1.1\r\nHost: {host}\r\n\r\nGET / HTTP/1.1\r\n\(fields)", 400),
    HostileRequest(
      "a second request in a body of ambiguous length",
      "POST / HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\nContent-Length: 44\r\n\r\n"
        + "GET / HTTP/1.1\r\n\(fields)", 400),
    HostileRequest(
      "an end after half a header", "GET / HTTP/1.1\r\nHost: {ho", 0, 400, isHalfClosed: true),
    HostileRequest("an end without a byte", "", 0, isHalfClosed: true),
    HostileRequest(
      "an end after a request", "GET /half-closed HTTP/1.1\r\n\(fields)", 200, 0, isHalfClosed: true
    ),
    HostileRequest(
      "an end in a body",
      "POST / HTTP/1.1\r\nContent-Length: 10\r\n\(fields)abc", 0, 400, isHalfClosed: true),
  ]

  private static let large = String(repeating: "x", count: 2_000_000)

  private static func chunks(
    _ description: String, _ body: String, _ statuses: Int...
  ) -> HostileRequest {
    HostileRequest(
      description,
      bytes: Array("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\(fields)".utf8),
      body: Array(body.utf8), Set(statuses))
  }
}
