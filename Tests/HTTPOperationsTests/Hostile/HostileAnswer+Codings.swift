import HTTPOperations

extension HostileAnswer {
  private static let ok = "HTTP/1.1 200 OK"
  private static let gzip = compressed("hello")
  private static let deflate = compressed("hello", .deflate)

  private static func body(
    _ name: String, _ bytes: [UInt8], _ end: HostileEnd
  ) -> HostileAnswer { body(name, "gzip", bytes, end) }

  private static func body(
    _ name: String, _ coding: String, _ bytes: [UInt8], _ end: HostileEnd
  ) -> HostileAnswer {
    HostileAnswer(
      name, head: [ok, "Content-Encoding: \(coding)", "Content-Length: \(bytes.count)"], bytes, end)
  }

  private static func changed(
    _ bytes: [UInt8], at index: Int, to byte: UInt8? = nil
  ) -> [UInt8] {
    var bytes = bytes
    let position = index < 0 ? bytes.count + index : index
    bytes[position] = byte ?? ~bytes[position]
    return bytes
  }

  /// Responses with a content coding.
  static let codings: [HostileAnswer] = [
    body("gzip", gzip, .text("hello")), body("GZIP", "GZIP", gzip, .text("hello")),
    body("x-gzip", "x-gzip", gzip, .text("hello")),
    body("deflate", "deflate", deflate, .text("hello")),
    body("deflate without a header", "deflate", compressed("hello", .rawDeflate), .text("hello")),
    body("identity", "identity", Array("hello".utf8), .text("hello")),
    body("an empty coding", "", Array("hello".utf8), .text("hello")),
    body("an empty gzip body", [], .text("")),
    body("a compressed empty body", compressed(""), .text("")),
    body("two members", compressed("hel") + compressed("lo"), .text("hello")),
    body("two members, one cut", gzip + gzip.dropLast(4), .lost),
    body("two members, one cut in its header", gzip + gzip.prefix(9), .undecodable),
    body("gzip with a wrong checksum", changed(gzip, at: -5), .undecodable),
    body("gzip with a wrong length", changed(gzip, at: -1), .undecodable),
    body("gzip with a byte after it", gzip + [0x41], .undecodable),
    body("gzip with zeros after it", gzip + [0, 0, 0, 0], .text("hello")),
    body("gzip with zeros and a byte after it", gzip + [0, 0, 0x41], .undecodable),
    body("gzip with text after it", gzip + Array("<html>".utf8), .undecodable),
    body("gzip with a wrong magic number", changed(gzip, at: 0), .undecodable),
    body("gzip with an unknown method", changed(gzip, at: 2), .undecodable),
    body("gzip with reserved flags", changed(gzip, at: 3, to: 0xE0), .undecodable),
    body("gzip with an invalid block", changed(gzip, at: 10, to: 7), .undecodable),
    body("text as gzip", Array("hello, this is text".utf8), .undecodable),
    body("deflate as gzip", deflate, .undecodable),
    body("gzip as deflate", "deflate", gzip, .undecodable),
    body("deflate with a wrong checksum", "deflate", changed(deflate, at: -1), .undecodable),
    body("deflate with a byte after it", "deflate", deflate + [0x41], .undecodable),
    body(
      "deflate without a header, with a byte after it", "deflate",
      compressed("hello", .rawDeflate) + [0x41], .undecodable),
    body("deflate with a dictionary", "deflate", [0x78, 0xBB, 1, 2, 3, 4, 5], .undecodable),
    body(
      "a distance before the start", "deflate", [0x4B, 0x04, 0x42, 0xF0, 0xFF, 0xFF, 0xFF],
      .undecodable),
    // The message is complete. The server, or one before it, was cut off: it may send it again.
    body("a gzip body that is cut", Array(gzip.dropLast(8)), .lost),
    body("a single byte of gzip", [0x1F], .lost),
    body("the header of gzip", Array(gzip.prefix(10)), .lost),
    body(
      "a file name of 100 KB in the header of gzip",
      [0x1F, 0x8B, 8, 8, 0, 0, 0, 0, 0, 3] + [UInt8](repeating: 0x41, count: 100_000) + [0]
        + gzip.dropFirst(10), .text("hello")),
    body(
      "an endless file name in the header of gzip",
      [0x1F, 0x8B, 8, 8, 0, 0, 0, 0, 0, 3] + [UInt8](repeating: 0x41, count: 100_000), .lost),
    // Whether their libraries are installed or not.
    body("an invalid body in br", "br", [0xFF, 0xFF, 0xFF, 0xFF], .undecodable),
    body("an invalid body in zstd", "zstd", [0x28, 0xB5, 0x2F, 0xFE, 0, 0], .undecodable),
    body("compress", "compress", [0x1F, 0x9D], .undecodable),
    body("an unknown coding", "rot13", Array("uryyb".utf8), .undecodable),
    // Parts of the list of codings that are accepted.
    body("a part of the name of a coding", "zip", gzip, .undecodable),
    body("a comma", ",", gzip, .undecodable),
    body("gzip twice", "gzip, gzip", compressed(gzip), .text("hello")),
    body("gzip three times, named twice", "gzip, gzip", compressed(compressed(gzip)), .body(gzip)),
    body("gzip three times", "gzip, gzip, gzip", compressed(compressed(gzip)), .undecodable),
    body("gzip twice, the inner one cut", "gzip, gzip", compressed(Array(gzip.dropLast(8))), .lost),
    body("gzip twice, the outer one cut", "gzip, gzip", Array(compressed(gzip).dropLast(8)), .lost),
    body(
      "gzip six times", Array(repeating: "gzip", count: 6).joined(separator: ","), gzip,
      .undecodable),
    body("gzip and deflate", "gzip, deflate", compressed(gzip, .deflate), .text("hello")),
    body("gzip and an unknown coding", "gzip, rot13", gzip, .undecodable),
    body("an unknown coding and gzip", "rot13, gzip", gzip, .undecodable),
    body("gzip with a parameter", "gzip;q=1", gzip, .undecodable),
    body("identity and gzip", "identity, gzip", gzip, .text("hello")),
    HostileAnswer(
      "two headers of gzip",
      head: [
        ok, "Content-Encoding: gzip", "Content-Encoding: gzip", "Content-Length: \(gzip.count)",
      ], gzip, .undecodable),
    HostileAnswer(
      "an error with an invalid gzip body",
      head: ["HTTP/1.1 500 Error", "Content-Encoding: gzip", "Content-Length: 5"], "hello",
      .status(500, [])),
    HostileAnswer(
      "an error with an unknown coding",
      head: ["HTTP/1.1 500 Error", "Content-Encoding: br", "Content-Length: 5"], "hello",
      .status(500, [])),
    HostileAnswer(
      "a redirect with an invalid gzip body",
      head: [
        "HTTP/1.1 302 Found", "Location: /target", "Content-Encoding: gzip", "Content-Length: 5",
      ], "hello", .text("target")),
    HostileAnswer(
      "204 with a coding", head: ["HTTP/1.1 204 No Content", "Content-Encoding: br"],
      .text("", status: 204)),
    body("an unknown coding without a body", "br", [], .text("")),
  ]

  /// Small bodies that become large.
  static var bombs: [HostileAnswer] {
    // 10 MB that become 10 GB.
    let member = compressed([UInt8](repeating: 0, count: 10 << 20))
    let bomb = Array(repeatElement(member, count: 1_000).joined())
    let head = ["Content-Encoding: gzip", "Content-Length: \(bomb.count)"]
    return [
      // Zeros after a member are ignored: much work, but no output.
      body(
        "a bomb of zeros after a member", "gzip, gzip", compressed(gzip) + member, .text("hello")),
      body(
        "a bomb of zeros after a member, in four codings", "gzip, gzip, gzip, gzip",
        compressed(compressed(compressed(gzip) + bomb)), .undecodable),
      HostileAnswer("a bomb", head: [ok] + head, bomb, .tooLarge(announced: nil))
        .limited(to: 8 << 20).only(.data, .upload),
      HostileAnswer(
        "a bomb in an error", head: ["HTTP/1.1 500 Error"] + head, bomb,
        .status(500, [UInt8](repeating: 0, count: 4_096))),
      HostileAnswer(
        "a bomb in a redirect", head: ["HTTP/1.1 302 Found", "Location: /target"] + head, bomb,
        .text("target")),
      HostileAnswer(
        "members without contents", head: [ok, "Content-Encoding: gzip"],
        Array(repeatElement(compressed(""), count: 10_000).joined()), .text("")),
    ]
  }
}
