import CommandLineOperations
import Foundation
import Testing

@Suite struct RawPathTests {
  @Test func `a path has the bytes it was created from`() {
    for bytes in [[], [0x2F], [0x66, 0xFF, 0x80], Array("ü/🎉".utf8), Array(1...255)] as [[UInt8]] {
      let path = RawPath(bytes: bytes)
      #expect(Array(path.bytes) == bytes)
      #expect(path == RawPath(bytes: bytes[...]))
    }
    #expect(Array(RawPath("a b").bytes) == Array("a b".utf8))
  }

  @Test func `the text is nil if the bytes are not UTF-8`() {
    #expect(RawPath("ü").text == "ü")
    #expect(RawPath("").text == "")
    #expect(RawPath(bytes: [0x66, 0xFF]).text == nil)
    // Half of a character.
    #expect(RawPath(bytes: [0xC3]).text == nil)
  }

  @Test(arguments: [
    ("/a", "b", "/a/b"), ("/a/", "b", "/a/b"), ("/", "b", "/b"), ("a", "b/c", "a/b/c"),
    ("", "b", "b"),
  ])
  func `appending a name adds one separator`(folder: String, name: String, path: String) {
    #expect(RawPath(folder).appending(name.utf8) == RawPath(path))
  }

  @Test func `paths are ordered by their bytes`() {
    let paths = ["b", "a/b", "a", "", "ü"].map { RawPath($0) } + [RawPath(bytes: [0xFF])]
    #expect(paths.sorted().map(\.description) == ["", "a", "a/b", "b", "ü", "$'\\xff'"])
  }

  @Test func `a system call receives the bytes and a zero`() {
    for bytes in [[], [0x66, 0xFF, 0x80], Array("a b".utf8)] as [[UInt8]] {
      let read = unsafe RawPath(bytes: bytes).withCString { start in
        (0...bytes.count).map { unsafe UInt8(bitPattern: start[$0]) }
      }
      #expect(read == bytes + [0])
    }
  }

  @Test func `an error of the closure of a C string is thrown`() {
    struct Failure: Error {}
    func fail() throws { try unsafe RawPath("a").withCString { _ in throw Failure() } }
    #expect(throws: Failure.self) { try fail() }
  }

  @Test(arguments: [
    (Array("a b".utf8), "a b"), (Array("ü 🎉".utf8), "ü 🎉"),
    (Array("'single' \"double\" \\".utf8), "'single' \"double\" \\"),
    (Array("new\nline".utf8), "$'new\\nline'"), (Array("\t\r'\\\n".utf8), "$'\\t\\r\\'\\\\\\n'"),
    (Array("\u{1B}[31m".utf8), "$'\\x1b[31m'"),
    // A mark that reorders the line, and a separator of lines.
    (Array("a\u{202E}b".utf8), "$'a\\xe2\\x80\\xaeb'"),
    (Array("a\u{2028}b".utf8), "$'a\\xe2\\x80\\xa8b'"), ([0x66, 0xFF, 0x80], "$'f\\xff\\x80'"),
    // Otherwise it could not be told from a quoted path.
    (Array("$'a'".utf8), "$'$\\'a\\''"),
  ])
  func `the description is one line that cannot control a terminal`(
    bytes: [UInt8], description: String
  ) {
    #expect(RawPath(bytes: bytes).description == description)
  }

  @Test(arguments: [
    (Array("/a b/ü".utf8), "/a b/ü"), (Array("100%".utf8), "100%25"),
    (Array("%25 ü\n".utf8), "%2525 ü\n"), ([0x66, 0xFF, 0x25, 0x0A, 0x7F, 0x41], "f%ff%25%0a%7fA"),
  ])
  func `the percent-encoded text restores every byte`(bytes: [UInt8], text: String) {
    #expect(RawPath(bytes: bytes).percentEncoded == text)
    #expect(RawPath(percentEncoded: text) == RawPath(bytes: bytes))
  }

  @Test func `every byte survives the percent-encoded text`() {
    for byte in UInt8.min...UInt8.max {
      for bytes in [[byte], [0xFF, byte], [byte, 0x34, 0x31]] {
        let path = RawPath(bytes: bytes)
        #expect(RawPath(percentEncoded: path.percentEncoded) == path)
      }
    }
  }

  @Test(arguments: ["%", "a%2", "%zz", "%+5", "% 5", "%-1", "50% of"])
  func `a percent sign without two digits stays`(text: String) {
    #expect(RawPath(percentEncoded: text) == RawPath(text))
  }

  @Test func `a path is coded as one string`() throws {
    let paths = [RawPath("/a b"), RawPath(bytes: [0x66, 0xFF])]
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    let json = try encoder.encode(paths)
    #expect(String(decoding: json, as: UTF8.self) == #"["/a b","f%ff"]"#)
    #expect(try JSONDecoder().decode([RawPath].self, from: json) == paths)
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([RawPath].self, from: Data("[1]".utf8))
    }
  }
}
