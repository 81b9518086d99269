import RecordOperations
import Testing

@Suite struct JSONReaderProblemTests {
  private static let noInteger = "which is not a 64-bit integer; a larger number can be a string"
  private static let digits = String(repeating: "9", count: 50)

  @Test(arguments: [
    (#"{"a":{"b":1}}"#, #"the field "a" has a nested object, which no field can hold"#),
    (#"{"a":[{}]}"#, #"the field "a" has a nested object, which no field can hold"#),
    (#"{"a":[1,[2]]}"#, #"the field "a" has a list in a list, which no field can hold"#),
    (#"{"a":1,"b":2,"a":1}"#, #"duplicate key "a""#),
    (#"{"a":9223372036854775808}"#, #"the field "a" has 9223372036854775808, \#(noInteger)"#),
    (#"{"a":\#(digits)}"#, #"the field "a" has \#(digits.prefix(40))…, \#(noInteger)"#),
    (#"{"a":1e400}"#, #"the field "a" has 1e400, which is larger than the largest double"#),
    (#"{"a":-1e-400}"#, #"the field "a" has -1e-400, which is too small for a double"#),
    (
      #"{"a":"\ud83d"}"#,
      #"the string has \ud83d, which is an unpaired surrogate and not a character"#
    ),
    (
      #"{"a":"\ud83d\u0041"}"#,
      #"the string has \ud83d, which is an unpaired surrogate and not a character"#
    ),
    (
      #"{"a":"\ude00\ud83d"}"#,
      #"the string has \ude00, which is an unpaired surrogate and not a character"#
    ),
    (
      #"{"a":"\x"}"#,
      #"expected one of " \ / b f n r t u after a backslash at byte 8 of the object, found "x""#
    ),
    (
      #"{"a":"\u12g4"}"#,
      #"expected four hexadecimal digits after \u at byte 11 of the object, found "g""#
    ),
    (
      "{\"a\":\"\u{1}\"}",
      """
      expected an escaped control character at byte 7 of the object, found the byte 0x1
      """
    ),
    (
      #"{"a":01}"#,
      #"expected a comma or "}" after the value of "a" at byte 7 of the object, found "1""#
    ),
    (
      #"{"a":-}"#,
      #"expected a digit at byte 7 of the object, found "}""#
    ),
    (
      #"{"a":1.}"#,
      #"expected a digit at byte 8 of the object, found "}""#
    ),
    (
      #"{"a":NaN}"#,
      """
      expected a value of "a" (a string, number, true, false, null or list) at byte 6 of the object, found "N"
      """
    ),
    (
      #"{"a" 1}"#,
      #"expected a colon after the key "a" at byte 6 of the object, found "1""#
    ),
    (
      #"{"a":1,}"#,
      #"expected a string as the key at byte 8 of the object, found "}""#
    ),
    (
      #"{a:1}"#,
      #"expected a string as the key at byte 2 of the object, found "a""#
    ),
  ])
  func `an object that cannot become a record is reported, and the next one is read`(
    object: String, problem: String
  ) {
    let lines = JSONReading(.lines, "{}\n\(object)\n{\"z\":1}\n")
    let array = JSONReading(.array, "[{},\n\(object),\n{\"z\":1}]\n")
    for reading in [lines, array] {
      #expect(reading.problems == ["line 2: \(problem)"])
      #expect(reading.objects == ["1: ", "3: z = 1"])
    }
  }

  @Test(arguments: [
    (
      "[1]",
      #"expected an object, which begins with "{", at byte 1 of the object, found "[""#
    ),
    (
      "{\"a\":1",
      #"expected a comma or "}" after the value of "a" at byte 7 of the object, found its end"#
    ),
    (
      "{\"a\":\"b",
      #"expected the closing quote of a string at byte 8 of the object, found its end"#
    ),
    ("{} 1", #"expected the end of the object at byte 4 of the object, found "1""#),
    (
      "{\"a\":\"b\\",
      #"expected one of " \ / b f n r t u after a backslash at byte 9 of the object, found its end"#
    ),
  ])
  func `a line that is not an object is reported, and the next one is read`(
    line: String, problem: String
  ) {
    let reading = JSONReading(.lines, "\(line)\n{\"z\":1}")
    #expect(reading.problems == ["line 1: \(problem)"])
    #expect(reading.objects == ["2: z = 1"])
  }

  @Test(arguments: [
    (
      "", 0,
      ["line 1: expected an array of objects, which begins with \"[\", found the end of the file"]
    ),
    (
      "\n{\"a\":1}\n[{}]", 0,
      [
        """
        line 2 (the rest of the file): expected an array of objects, which begins with "[", found "{", so the file is skipped; a file with \
        one object a line is JSON Lines
        """
      ]
    ),
    (
      "[1,{},\"],{\",\n[{},{}],{}]", 2,
      [
        "line 1: expected an object, found \"1\"",
        "line 1: expected an object, found \"\"\"",
        "line 2 (2 bad rows): expected an object, found \"[\"",
      ]
    ),
    (
      "[{},]", 1,
      ["line 1: expected an object after the comma, found the end of the array"]
    ),
    (
      "[{}\n{},{}]", 2,
      [
        """
        line 2: expected a comma or "]" after an object, found "{"; the text up to the next comma is skipped
        """
      ]
    ),
    ("[{}", 1, ["line 1: the array is not closed: expected \"]\", found the end of the file"]),
    (
      "[{}]\n,{}", 1,
      [
        "line 2 (the rest of the file): expected the end of the file after the array, found \",\", so the rest is skipped"
      ]
    ),
    (
      "[{},\n{\"a\":\"b},\n{}]", 1,
      [
        """
        lines 2 to 3 (2 bad rows): the object is not closed: it extends to the end of the file, line 3, and is \
        skipped: 13 bytes
        """
      ]
    ),
    (
      "[{},\n1 \"\n", 1,
      [
        """
        line 2: expected an object, found "1"; the skipped text extends to the end of the file, line 3: no comma or \
        "]" of the array was found after it
        """
      ]
    ),
  ])
  func `a malformed array is reported, and the objects found in it are read`(
    text: String, count: Int, problems: [String]
  ) {
    let reading = JSONReading(.array, text)
    #expect(reading.problems == problems)
    #expect(reading.objects.count == count)
  }

  @Test func `an object nested too deeply is reported, and the next one is read`() {
    let deep = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
    let array = JSONReading(.array, "[{\"a\":\(deep)},{}]")
    #expect(
      array.problems == ["line 1: the object is nested more than 512 levels deep and is skipped"])
    #expect(array.objects == ["1: "])
    let lines = JSONReading(.lines, "{\"a\":\(deep)}\n{}")
    #expect(
      lines.problems
        == ["line 1: the field \"a\" has a list in a list, which no field can hold"])
    #expect(lines.objects == ["2: "])
  }

  @Test func `a string that is not valid UTF-8 is reported`() {
    let bytes = Array("{\"a\":\"".utf8) + [0xFF] + Array("\"}\n{}".utf8)
    let reading = JSONReading(.lines, bytes)
    #expect(
      reading.problems == ["line 1: the string before byte 9 of the object is not UTF-8"])
    #expect(reading.objects == ["2: "])
  }

  @Test(arguments: [JSONReader.Layout.lines, .array])
  func `an object above a size limit is skipped, wherever the input is split`(
    layout: JSONReader.Layout
  ) {
    let rows = ["{\"a\":12}", "{\"a\":\"},1\n2\"}", "{\"a\":123}", "{\"a\":[1,2]}", "{}"]
    let text = layout == .array ? "[\(rows.joined(separator: ","))]" : rows.joined(separator: "\n")
    let bytes = Array((layout == .array ? text : text.replacing("1\n2", with: "122")).utf8)
    let whole = JSONReading(layout, bytes, limits: RowLimits(rowBytes: 8))
    #expect(whole.objects.count == 2)
    #expect(whole.problems.count == 3)
    #expect(
      whole.problems[0].hasSuffix("the object is too large and is skipped: the limit is 8 bytes"))
    for length in 1...bytes.count {
      let reading = JSONReading(
        layout, bytes, inPiecesOf: length, limits: RowLimits(rowBytes: 8))
      #expect(reading == whole, "in pieces of \(length)")
    }
  }

  @Test func `an object with more values than the limit is skipped`() {
    let text =
      "{\"a\":[1,2],\"b\":3}\n{\"a\":[1,2,3],\"b\":4}\n{\"a\":[],\"b\":[],\"c\":[],\"d\":[]}"
    let reading = JSONReading(.lines, Array(text.utf8), limits: RowLimits(cells: 3))
    #expect(reading.objects.count == 1)
    #expect(
      reading.problems
        == [2, 3].map { "line \($0): the object is too large: the limit is 3 values" })
  }

  @Test func `a duplicate among a hundred keys is found, and keys are compared by their bytes`() {
    let keys = (0..<100).map { "\"key \($0)\":\($0)" } + ["\"e\u{301}\":1", "\"é\":2"]
    #expect(JSONReading(.lines, "{\(keys.joined(separator: ","))}").problems == [])
    for number in [0, 31, 32, 99] {
      let reading = JSONReading(.lines, "{\((keys + [keys[number]]).joined(separator: ","))}")
      #expect(reading.problems == ["line 1: duplicate key \"key \(number)\""])
    }
  }
}
