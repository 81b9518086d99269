import FlowFiles
import Testing

struct EncodingTests {
  private static let json = #"{"flow": "f", "steps": {"a": {"run": ["x"]}}}"#

  @Test(arguments: [FlowFileFormat.json, .yaml])
  func `UTF-16 is refused with advice`(format: FlowFileFormat) {
    let expected = ["1:1: the file is in UTF-16; save it in UTF-8"]
    let units = Array(Self.json.utf16)
    let little = units.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    let big = units.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    #expect(problems(of: little, format) == expected)
    #expect(problems(of: big, format) == expected)
    #expect(problems(of: [0xFF, 0xFE] + little, format) == expected)
    #expect(problems(of: [0xFE, 0xFF] + big, format) == expected)
  }

  @Test(arguments: [FlowFileFormat.json, .yaml])
  func `bytes that are not UTF-8 have a position`(format: FlowFileFormat) {
    for byte in [0x80, 0xC0, 0xFF, 0xE9] as [UInt8] {
      let bytes = Array("{\"flow\":\n\"é".utf8) + [byte] + Array("\"}".utf8)
      let digits = String(byte, radix: 16)
      #expect(
        problems(of: bytes, format)
          == ["2:3: the byte 0x\(digits) is not valid UTF-8; save the file in UTF-8"])
    }
  }

  @Test(arguments: [FlowFileFormat.json, .yaml])
  func `control characters are refused`(format: FlowFileFormat) {
    #expect(
      problems(of: "{\"flow\":\r\n\r\"\u{1}", format)
        == ["3:2: the control character U+0001 is not allowed"])
    #expect(
      problems(of: "{\"flow\":\u{0}", format)
        == ["1:9: the control character U+0000 is not allowed"])
    #expect(
      problems(of: "a\u{7f}", format) == ["1:2: the control character U+007F is not allowed"])
    for scalar in ["\u{80}", "\u{84}", "\u{86}", "\u{9f}", "\u{fffe}", "\u{ffff}"] {
      let text = "# \(String(repeating: "é", count: 10_000))\n\na\(scalar)"
      let digits = String(scalar.unicodeScalars.map(\.value)[0], radix: 16, uppercase: true)
      let name = String(repeating: "0", count: 4 - digits.count) + digits
      #expect(
        problems(of: text, format) == ["3:2: the control character U+\(name) is not allowed"])
    }
  }

  @Test(.needsYAML)
  func `other characters are allowed`() throws {
    for scalar in ["\u{85}", "\u{a0}", "\u{d7ff}", "\u{e000}", "\u{fffd}", "\u{10ffff}"] {
      let file = try FlowFile(yaml: "flow: f\nsteps: {a: {run: [x, 'a\(scalar)b']}}")
      #expect(file.steps.count == 1)
    }
  }

  @Test(arguments: [FlowFileFormat.json, .yaml])
  func `a byte order mark is no part of the text`(format: FlowFileFormat) throws {
    let bytes = [0xEF, 0xBB, 0xBF] + Array(Self.json.utf8)
    let file = try FlowFile(parsing: bytes, path: "f", format: format)
    #expect(file.steps[0].location == FlowLocation(line: 1, column: 25))
  }

  @Test(.needsYAML)
  func `columns count characters and not bytes`() {
    #expect(
      problems(of: "flow: f\nsteps: {\"é\u{1F680}\": {run: [x]}, b: {run: []}}")
        == [
          "2:9: invalid step name 'é\u{1F680}'; expected letters, digits, '.', '_' and '-'",
          "2:36: the command in run of 'b' is empty",
        ])
  }

  @Test(.needsYAML)
  func `other line ends count as one line`() {
    let lines = ["flow: f", "steps:", "  a: {run: []}"]
    for end in ["\n", "\r\n", "\r"] {
      #expect(
        problems(of: lines.joined(separator: end)) == ["3:12: the command in run of 'a' is empty"])
    }
  }
}
