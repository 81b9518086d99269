import CompositeOperations
import Foundation
import RecordOperations
import Testing

@Suite struct TextEncodingTests {
  static let prefixes: [([UInt8], TextEncoding?, whole: TextEncoding)] = [
    ([], nil, .utf8), ([0x61], nil, .utf8), ([0x61, 0x2C], .utf8, .utf8),
    ([0x61, 0], nil, .utf8), ([0x61, 0, 0x62], nil, .utf8),
    ([0x61, 0, 0x62, 0], .unsupported("UTF-16LE"), .unsupported("UTF-16LE")),
    ([0x61, 0, 0x62, 0x62], .utf8, .utf8), ([0x61, 0, 0, 0x62], .utf8, .utf8),
    ([0, 0x61, 0, 0x62], .unsupported("UTF-16BE"), .unsupported("UTF-16BE")),
    ([0], nil, .utf8), ([0, 0], nil, .utf8), ([0, 0, 0xFE], nil, .utf8),
    ([0, 0, 0xFE, 0xFF], .unsupported("UTF-32BE"), .unsupported("UTF-32BE")),
    ([0xFF], nil, .utf8), ([0xFF, 0x61], .utf8, .utf8),
    ([0xFF, 0xFE], nil, .utf16(isBigEndian: false)),
    ([0xFF, 0xFE, 0], nil, .utf16(isBigEndian: false)),
    ([0xFF, 0xFE, 0, 0], .unsupported("UTF-32LE"), .unsupported("UTF-32LE")),
    ([0xFF, 0xFE, 0x61, 0], .utf16(isBigEndian: false), .utf16(isBigEndian: false)),
    ([0xFE], nil, .utf8), ([0xFE, 0x61], .utf8, .utf8),
    ([0xFE, 0xFF], .utf16(isBigEndian: true), .utf16(isBigEndian: true)),
    ([0xEF, 0xBB, 0xBF, 0x61], .utf8, .utf8),
  ]

  @Test(arguments: prefixes)
  func `the encoding is detected from the first bytes as soon as they are sufficient`(
    bytes: [UInt8], encoding: TextEncoding?, whole: TextEncoding
  ) {
    #expect(TextEncoding(prefix: bytes, isWhole: false) == encoding)
    #expect(TextEncoding(prefix: bytes, isWhole: true) == whole)
  }

  private func utf8(_ bytes: [UInt8], isBigEndian: Bool, cutAt cuts: [Int]) -> [UInt8] {
    var transcoder = UTF16Transcoder(isBigEndian: isBigEndian)
    var text: [UInt8] = []
    var start = 0
    for cut in cuts + [bytes.count] {
      transcoder.append(bytes.span.extracting(start..<cut), to: &text)
      start = cut
    }
    transcoder.finish(&text)
    return text
  }

  @Test(arguments: [true, false])
  func `UTF-16 is converted to the same UTF-8 text, wherever the input is split`(isBigEndian: Bool)
    throws
  {
    let text = "a\u{7F}\u{80}\u{7FF}\u{800}\u{D7FF}\u{E000}\u{FEFF}\u{FFFF}\u{10000}\u{10FFFF}😀\n"
    let units = [0xFEFF] + Array(text.utf16)
    let bytes = units.flatMap { unit in
      isBigEndian
        ? [UInt8(unit >> 8), UInt8(unit & 0xFF)] : [UInt8(unit & 0xFF), UInt8(unit >> 8)]
    }
    for cut in 0...bytes.count {
      #expect(utf8(bytes, isBigEndian: isBigEndian, cutAt: [cut]) == Array(text.utf8))
    }
    let all = Array(0..<bytes.count)
    #expect(utf8(bytes, isBigEndian: isBigEndian, cutAt: all) == Array(text.utf8))
  }

  @Test func `random code units become valid text if and only if they are well-formed`() {
    let seed = UInt64.random(in: 0 ... .max)
    var random = OperationRandomness.seeded(seed)
    for _ in 0..<2_000 {
      let units = (0..<Int.random(in: 0...6, using: &random)).map { _ in
        let surrogate = UInt16.random(in: 0xD7FE...0xE001, using: &random)
        return Bool.random(using: &random) ? surrogate : UInt16.random(in: 0...0xFF, using: &random)
      }
      let bytes = units.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
      let found = utf8([0xFF, 0xFE] + bytes, isBigEndian: false, cutAt: [])
      let expected = String(validating: units, as: UTF16.self)
      #expect(String(validating: found, as: UTF8.self) == expected, "seed \(seed): \(units)")
    }
  }

  // MARK: Files

  private func load(
    _ bytes: [UInt8], as format: ImportFormat = .csv, badRows: BadRowPolicy = .refused
  ) async throws -> (outcome: Outcome<ImportedFile>, rows: [[FieldValue]]) {
    let folder = try TemporaryFolder()
    try Data(bytes).write(to: URL(fileURLWithPath: folder.file("in")))
    let database = SQLiteRecordDatabase(folder.file())
    let outcome = await ImportRecords(
      "T", into: database, from: folder.file("in"), as: format, badRows: badRows
    ).run()
    let rows = try await database.all(RecordQuery("T", sortedBy: [.ascending("a")]))
    await database.close()
    return (outcome, rows.map { [$0["a"], $0["b"]] })
  }

  private func bytes(_ text: String, _ encoding: String.Encoding, _ mark: [UInt8]) throws -> [UInt8]
  {
    mark + Array(try #require(text.data(using: encoding)))
  }

  @Test(arguments: [
    (String.Encoding.utf16LittleEndian, [UInt8]([0xFF, 0xFE])), (.utf16BigEndian, [0xFE, 0xFF]),
  ])
  func `D11: a file in UTF-16 with a byte order mark is read`(
    encoding: String.Encoding, mark: [UInt8]
  ) async throws {
    let expected: [[FieldValue]] = [["1", "ž,\n😀"], ["2", "last"]]
    let csv = try bytes("a,b\r\n1,\"ž,\n😀\"\r\n2,last", encoding, mark)
    #expect(try await load(csv).rows == expected)
    let lines = try bytes(
      "{\"a\":\"1\",\"b\":\"ž,\\n😀\"}\n{\"a\":\"2\",\"b\":\"last\"}", encoding, mark)
    #expect(try await load(lines, as: .jsonLines).rows == expected)
    let array = try bytes(
      "[{\"a\":\"1\",\"b\":\"ž,\\n😀\"},{\"a\":\"2\",\"b\":\"last\"}]\n", encoding, mark)
    #expect(try await load(array, as: .json).rows == expected)
  }

  @Test func `D11: a row with ill-formed UTF-16 is a bad row`() async throws {
    let half: [UInt8] = [0x3D, 0xD8]
    let text = try bytes("a,b\n1,", .utf16LittleEndian, [0xFF, 0xFE])
    let rest = try bytes("\n2,y\n3,z", .utf16LittleEndian, [])
    let (outcome, rows) = try await load(
      text + half + rest + [0x61], badRows: .skipped(atMost: 2))
    #expect(outcome.result?.problems.map(\.line) == [2, 4])
    #expect(rows == [["2", "y"]])
  }

  static let refused: [(String.Encoding, String)] = [
    (.utf16LittleEndian, "UTF-16LE"), (.utf16BigEndian, "UTF-16BE"),
    (.utf32LittleEndian, "UTF-32LE"), (.utf32BigEndian, "UTF-32BE"),
  ]

  @Test(arguments: refused)
  func `the error for an unsupported encoding names the encoding and the remedy`(
    encoding: String.Encoding, name: String
  ) async throws {
    // Only UTF-32 needs a byte order mark to be detected.
    let text = name.hasPrefix("UTF-32") ? "\u{FEFF}a,b\n1,x\n" : "a,b\n1,x\n"
    for format in [ImportFormat.csv, .jsonLines] {
      let error = try await load(try bytes(text, encoding, []), as: format).outcome.error
      let description = "\(try #require(error as? RecordFileError))"
      #expect(description.contains("looks like \(name)"), "\(description)")
      #expect(description.contains("iconv -f \(name) -t UTF-8"), "\(description)")
    }
  }
}
