import HTTPOperations

/// A valid response, which is cut and split at every position.
struct ValidAnswer: Sendable {
  let name: String
  let bytes: [UInt8]
  let end: HostileEnd
  /// The end of a response that is cut within its body, if HTTP defines it as complete, with what
  /// has been received of the body.
  private let endOfCutBody: (@Sendable ([UInt8]) -> HostileEnd)?

  init(
    _ name: String, head: [String], _ body: [UInt8], _ end: HostileEnd,
    cutBody endOfCutBody: (@Sendable ([UInt8]) -> HostileEnd)? = nil
  ) {
    self.name = name
    bytes = Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
    bodyStart = bytes.count - body.count
    self.end = end
    self.endOfCutBody = endOfCutBody
  }

  init(
    _ name: String, head: [String], _ body: String, _ end: HostileEnd,
    cutBody endOfCutBody: (@Sendable ([UInt8]) -> HostileEnd)? = nil
  ) {
    self.init(name, head: head, Array(body.utf8), end, cutBody: endOfCutBody)
  }

  private let bodyStart: Int

  /// The responses that are cut at each position.
  var cuts: [HostileAnswer] {
    bytes.indices.map { position in
      // libcurl does not wait for the last line feed after the last chunk. Everything of the body and
      // the trailer has been received then.
      let isLastByte = position == bytes.count - 1
      var end = isLastByte && isChunked ? self.end : .lost
      if position >= bodyStart, let endOfCutBody {
        end = endOfCutBody(Array(bytes[bodyStart..<position]))
      }
      return HostileAnswer("\(name) cut at \(position)", Array(bytes[..<position]), end)
    }
  }

  /// The responses that are sent in two parts, split at each position.
  var splits: [HostileAnswer] {
    bytes.indices.dropFirst().map { position in
      var answer = HostileAnswer("\(name) split at \(position)", Array(bytes[..<position]), end)
      answer.secondPart = Array(bytes[position...])
      // The connection is not closed, except where its end is the end of the body.
      answer.rest = isUntilClose ? .close : .hold
      answer.transfers = [.data]
      return answer
    }
  }

  private var isChunked: Bool { name.contains("chunk") }

  private var isUntilClose: Bool { name.hasPrefix("until close") }
}

extension ValidAnswer {
  private static let words = "These bytes are the same as those bytes, and those are the bytes."

  static let all: [ValidAnswer] = [
    ValidAnswer(
      "Content-Length",
      head: ["HTTP/1.1 200 OK", "Content-Type: text/plain", "Content-Length: 11"],
      "hello world", .text("hello world")),
    ValidAnswer(
      "HTTP/1.0", head: ["HTTP/1.0 200 OK", "Content-Length: 11"], "hello world",
      .text("hello world")),
    ValidAnswer(
      "no body", head: ["HTTP/1.1 204 No Content", "Server: loopback"], "",
      .text("", status: 204)),
    ValidAnswer(
      "an empty body", head: ["HTTP/1.1 200 OK", "Content-Length: 0"], "", .text("")),
    ValidAnswer(
      "chunked", head: ["HTTP/1.1 200 OK", "Transfer-Encoding: chunked"],
      "5\r\nhello\r\n6;name=\"va;lue\";x\r\n world\r\n000;last\r\nDigest: abc\r\nExpires: 0\r\n\r\n",
      .text("hello world")),
    ValidAnswer(
      "gzip", head: ["HTTP/1.1 200 OK", "Content-Encoding: gzip", "Content-Length: \(gzip.count)"],
      gzip, .text(words)),
    ValidAnswer(
      "gzip in chunks",
      head: ["HTTP/1.1 200 OK", "Content-Encoding: gzip", "Transfer-Encoding: chunked"],
      chunked(gzip, by: 20), .text(words)),
    ValidAnswer(
      "deflate",
      head: ["HTTP/1.1 200 OK", "Content-Encoding: deflate", "Content-Length: \(deflate.count)"],
      deflate, .text(words)),
    ValidAnswer(
      "deflate without a header",
      head: ["HTTP/1.1 200 OK", "Content-Encoding: deflate", "Content-Length: \(raw.count)"],
      raw, .text(words)),
    ValidAnswer(
      "informational responses",
      head: [
        "HTTP/1.1 100 Continue", "", "HTTP/1.1 103 Early Hints", "Link: </style.css>", "",
        "HTTP/1.1 200 OK", "Content-Length: 5",
      ], "hello", .text("hello")),
    ValidAnswer(
      "until close", head: ["HTTP/1.1 200 OK", "Connection: close"], "hello world",
      .text("hello world"), cutBody: { .body($0) }),
    // An empty body has no format that could be incomplete.
    ValidAnswer(
      "until close, gzip",
      head: ["HTTP/1.1 200 OK", "Connection: close", "Content-Encoding: gzip"], gzip,
      .text(words), cutBody: { $0.isEmpty ? .text("") : .lost }),
    // The status is the error. Its body is only for the reader of the error.
    ValidAnswer(
      "an error status", head: ["HTTP/1.1 404 Not Found", "Content-Length: 11"], "not present",
      .status(404, Array("not present".utf8)), cutBody: { .status(404, $0) }),
    // The body of a redirect is not used.
    ValidAnswer(
      "a redirect",
      head: ["HTTP/1.1 302 Found", "Location: /target", "Content-Length: 9"], "elsewhere",
      .text("target"), cutBody: { _ in .text("target") }),
  ]

  private static let gzip = compressed(words)
  private static let deflate = compressed(words, .deflate)
  private static let raw = compressed(words, .rawDeflate)

  private static func chunked(_ bytes: [UInt8], by size: Int) -> [UInt8] {
    var result: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: size) {
      let chunk = bytes[start..<min(start + size, bytes.count)]
      result += Array((String(chunk.count, radix: 16) + "\r\n").utf8) + chunk + [13, 10]
    }
    return result + Array("0\r\n\r\n".utf8)
  }
}
