import RecordOperations
import Testing

@Suite struct CSVReaderTests {
  @Test(arguments: [
    // The rules of RFC 4180, section 2, in order.
    ("aaa,bbb,ccc\r\nzzz,yyy,xxx\r\n", ["1: aaa|bbb|ccc", "2: zzz|yyy|xxx"]),
    ("aaa,bbb,ccc\r\nzzz,yyy,xxx", ["1: aaa|bbb|ccc", "2: zzz|yyy|xxx"]),
    ("a, b ,c\n", ["1: a| b |c"]),
    ("\"aaa\",\"bbb\",ccc\n", ["1: \"aaa\"|\"bbb\"|ccc"]),
    ("\"aaa\",\"b\r\nbb\",ccc\r\nz,y,x", ["1: \"aaa\"|\"b\r\nbb\"|ccc", "3: z|y|x"]),
    ("\"aaa\",\"b\"\"bb\",c\n", ["1: \"aaa\"|\"b\"bb\"|c"]),
    // Cases that RFC 4180 does not define.
    ("a\nb\rc\r\nd", ["1: a", "2: b", "3: c", "4: d"]),
    ("", []),
    ("\n\r\n\r", []),
    ("a\n\n\r\n\rb\n\n", ["1: a", "5: b"]),
    (",\n", ["1: |"]),
    (",", ["1: |"]),
    ("a,", ["1: a|"]),
    ("\"\",,\"\"\n", ["1: \"\"||\"\""]),
    ("\"\"", ["1: \"\""]),
    ("\"\"\"\"\n", ["1: \"\"\""]),
    ("\"\"\"\"\"\",x", ["1: \"\"\"\"|x"]),
    ("\"a\"\"\nb\"\r\nc", ["1: \"a\"\nb\"", "3: c"]),
    ("a\"b,c\"\"d,\"e\"\n", ["1: a\"b|c\"\"d|\"e\""]),
    (" \"a\",b\n", ["1:  \"a\"|b"]),
    ("\" a \"\n", ["1: \" a \""]),
    ("\"\n\r\r\n\n\",a\nb", ["1: \"\n\r\r\n\n\"|a", "6: b"]),
    ("\"a\r\"\nb", ["1: \"a\r\"", "3: b"]),
    ("a\u{0},\u{0}\n", ["1: a\u{0}|\u{0}"]),
    ("\u{FEFF}a,b\n", ["1: a|b"]),
    ("\u{FEFF}\"a\",\u{FEFF}b\n", ["1: \"a\"|\u{FEFF}b"]),
    ("\u{FEFF}", []),
    ("\u{FEFE}a", ["1: \u{FEFE}a"]),
    ("a;b\tc\n", ["1: a;b\tc"]),
    ("déjà,漢字,😀\n", ["1: déjà|漢字|😀"]),
    (
      "sixteen bytes ok,sixteen bytes ok\nfifteen bytes k,seventeen bytes o\n",
      ["1: sixteen bytes ok|sixteen bytes ok", "2: fifteen bytes k|seventeen bytes o"]
    ),
  ])
  func `rows and cells are parsed according to RFC 4180`(text: String, rows: [String]) {
    let reading = CSVReading(text)
    #expect(reading.rows == rows)
    #expect(reading.problems == [])
  }

  @Test(arguments: [(CSVDelimiter.comma, ","), (.semicolon, ";"), (.tab, "\t")])
  func `only the configured delimiter separates cells`(delimiter: CSVDelimiter, text: String) {
    let others = [",", ";", "\t"].filter { $0 != text }.joined()
    let reading = CSVReading("a\(text)b\(others)c\(text)\"\(text)\"\n", delimiter: delimiter)
    #expect(reading.rows == ["1: a|b\(others)c|\"\(text)\""])
  }

  private static let edgeCases = [
    "\u{FEFF}a,\"b\"\"c\r\nd\",é\r\n\r\n\"\",,\"x\"\r\"y\"\n,\"\"\"\"\n",
    "\"a\"\"\"\"b\"\"\",\"\r\r\n\n\"\r\n\"😀\"\"😀\"\n\n\nlast,\"row\"",
    "a,\"b\"c,d\n\"e\"\"\"f\r\n\"g\"\"\nh\" \"i\",\"j\nk\"\nl,\"open\nand never closed",
    "a long cell without a quote,\"a long cell with \"\" and \r\n in it, \",another long cell\n,,,\n",
    "\u{FEFE},a\nb",
  ]

  @Test(arguments: edgeCases)
  func `rows and problems do not depend on where the input is split`(text: String) {
    let bytes = Array(text.utf8)
    let whole = CSVReading(bytes)
    for first in 0...bytes.count {
      for second in first...bytes.count {
        #expect(CSVReading(bytes, cutAt: [first, second]) == whole, "cut at \(first), \(second)")
      }
    }
    for length in 1...20 {
      #expect(CSVReading(bytes, inPiecesOf: length) == whole, "in pieces of \(length)")
    }
  }

  @Test func `a batch provides its rows, their lines and their cells`() {
    var reader = CSVReader()
    let bytes = Array("id,note\n\n7,\"\"\n8,,\"say \"\"so\"\"\"\n".utf8)
    let batch = reader.read(bytes.span)
    #expect(batch.rowCount == 3)
    #expect((0..<3).map { batch.line(of: $0) } == [1, 3, 4])
    #expect((0..<3).map { batch.cellCount(of: $0) } == [2, 2, 3])
    #expect(batch.text(of: batch[0, 1]) == "note")
    #expect(batch[1, 1].isQuoted && batch[1, 1].range.isEmpty)
    #expect(!batch[2, 1].isQuoted && batch[2, 1].range.isEmpty)
    #expect(batch.withBytes(of: batch[2, 2]) { $0.count } == "say \"so\"".utf8.count)
    #expect(Array(batch.bytes[batch[2, 2].range]) == Array("say \"so\"".utf8))
    #expect(reader.finish().rowCount == 0)
  }

  @Test(
    arguments: [
      ([], true), (Array("plain text that is longer than sixteen bytes".utf8), true),
      (Array("déjà vu; 漢字 and 😀 and more".utf8), true), ([0], true), ([0xFF], false),
      ([0xC3], false), ([0xC0, 0x80], false), ([0xED, 0xA0, 0x80], false),
      ([0xF4, 0x90, 0x80, 0x80], false), (Array("sixteen bytes ok".utf8) + [0x80], false),
    ] as [([UInt8], Bool)])
  func `cells keep their bytes, and report whether these are valid UTF-8`(
    cell: [UInt8], isText: Bool
  ) {
    var reader = CSVReader()
    let bytes = [0x22] + cell + [0x22, 0x2C] + cell + [0x0A]
    let batch = reader.read(bytes.span)
    for cell in batch.cells(of: 0) { #expect(batch.isText(cell) == isText) }
    #expect(batch.isText == isText)
    #expect(batch.cells(of: 0).allSatisfy { Array(batch.bytes[$0.range]) == cell })
    #expect((batch.text(of: batch[0, 0]) != nil) == isText)
  }
}
