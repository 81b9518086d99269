import RecordOperations
import Testing

@Suite struct JSONReaderProblemTests {
  private static let noInteger = "and an integer is one of 64 bits; a larger one can be a string"
  private static let digits = String(repeating: "9", count: 50)

  @Test(arguments: [
    (
      #"{"a":{"b":1}}"#,
      #"the field "a" has an object with fields of its own, and no field has such"#
    ),
    (#"{"a":[{}]}"#, #"the field "a" has an object with fields of its own, and no field has such"#),
    (#"{"a":[1,[2]]}"#, #"the field "a" has a list in a list, and no field has such"#),
    (#"{"a":1,"b":2,"a":1}"#, #"the key "a" is there twice"#),
    (#"{"a":9223372036854775808}"#, #"the field "a" has 9223372036854775808, \#(noInteger)"#),
    (#"{"a":\#(digits)}"#, #"the field "a" has \#(digits.prefix(40))…, \#(noInteger)"#),
    (#"{"a":1e400}"#, #"the field "a" has 1e400, which is larger than the largest double"#),
    (
      #"{"a":"\ud83d"}"#,
      #"the string has \ud83d, which is half of a surrogate pair and no character"#
    ),
    (
      #"{"a":"\ud83d\u0041"}"#,
      #"the string has \ud83d, which is half of a surrogate pair and no character"#
    ),
    (
      #"{"a":"\ude00\ud83d"}"#,
      #"the string has \ude00, which is half of a surrogate pair and no character"#
    ),
    (
      #"{"a":"\x"}"#,
      #"one of " \ / b f n r t u behind a backslash was expected at byte 8 of the object, and there is "x""#
    ),
    (
      #"{"a":"\u12g4"}"#,
      #"four hexadecimal digits behind \u was expected at byte 11 of the object, and there is "g""#
    ),
    (
      "{\"a\":\"\u{1}\"}",
      """
      a character of a string, where control characters are escaped, was expected at byte 7 of the object, and there \
      is the byte 0x1
      """
    ),
    (
      #"{"a":01}"#,
      #"a comma or "}" behind the value of "a" was expected at byte 7 of the object, and there is "1""#
    ),
    (
      #"{"a":-}"#,
      #"a digit of a number was expected at byte 7 of the object, and there is "}""#
    ),
    (
      #"{"a":1.}"#,
      #"a digit of a number was expected at byte 8 of the object, and there is "}""#
    ),
    (
      #"{"a":NaN}"#,
      """
      a value of "a": a string, a number, true, false, null or a list was expected at byte 6 of the object, and there \
      is "N"
      """
    ),
    (
      #"{"a" 1}"#,
      #"a colon behind the key "a" was expected at byte 6 of the object, and there is "1""#
    ),
    (
      #"{"a":1,}"#,
      #"a key, which is a string, was expected at byte 8 of the object, and there is "}""#
    ),
    (
      #"{a:1}"#,
      #"a key, which is a string, was expected at byte 2 of the object, and there is "a""#
    ),
  ])
  func `an object that no record can be is reported, and the next one is read`(
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
      #"an object, which begins with "{", was expected at byte 1 of the object, and there is "[""#
    ),
    (
      "{\"a\":1",
      #"a comma or "}" behind the value of "a" was expected at byte 7 of the object, and there is nothing more"#
    ),
    (
      "{\"a\":\"b",
      #"the quote that ends a string was expected at byte 8 of the object, and there is nothing more"#
    ),
    ("{} {}", #"nothing behind the object was expected at byte 4 of the object, and there is "{""#),
    (
      "{\"a\":\"b\\",
      #"one of " \ / b f n r t u behind a backslash was expected at byte 9 of the object, and there is nothing more"#
    ),
  ])
  func `a line that is no object is reported, and the next one is read`(
    line: String, problem: String
  ) {
    let reading = JSONReading(.lines, "\(line)\n{\"z\":1}")
    #expect(reading.problems == ["line 1: \(problem)"])
    #expect(reading.objects == ["2: z = 1"])
  }

  @Test(arguments: [
    (
      "", 0,
      ["line 1: an array of objects was expected, which begins with \"[\", and there is nothing"]
    ),
    (
      "\n{\"a\":1}\n[{}]", 0,
      [
        """
        line 2: an array of objects was expected, which begins with "[", and there is "{", so the file is left out; a \
        file with an object a line is one of JSON Lines
        """
      ]
    ),
    (
      "[1,{},\"],{\",\n[{},{}],{}]", 2,
      [
        "line 1: an object was expected, and there is \"1\"",
        "line 1: an object was expected, and there is \"\"\"",
        "line 2: an object was expected, and there is \"[\"",
      ]
    ),
    (
      "[{},]", 1,
      ["line 1: an object was expected behind the comma, and there is the end of the array"]
    ),
    (
      "[{}\n{},{}]", 2,
      [
        """
        line 2: a comma or "]" was expected behind an object, and there is "{"; it is left out up to the next comma
        """
      ]
    ),
    ("[{}", 1, ["line 1: the array does not end: \"]\" was expected, and there is nothing more"]),
    (
      "[{}]\n,{}", 1,
      [
        "line 2: the end of the file was expected behind the array, and there is \",\", so the rest is left out"
      ]
    ),
    (
      "[{},\n{\"a\":\"b},\n{}]", 1,
      [
        """
        line 2: the object does not end: it goes on to the end of the file, line 3, for 13 bytes; all of them are left \
        out
        """
      ]
    ),
    (
      "[{},\n1 \"\n", 1,
      [
        "line 2: an object was expected, and there is \"1\"",
        """
        line 2: what is left out here goes on to the end of the file, line 3: no comma and no "]" of the array was \
        found behind it
        """,
      ]
    ),
  ])
  func `what is no array of objects is reported, and what can be found in it is read`(
    text: String, count: Int, problems: [String]
  ) {
    let reading = JSONReading(.array, text)
    #expect(reading.problems == problems)
    #expect(reading.objects.count == count)
  }

  @Test func `what is nested too deep is reported, and nothing is lost behind it`() {
    let deep = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
    let array = JSONReading(.array, "[{\"a\":\(deep)},{}]")
    #expect(array.problems == ["line 1: the object is nested more than 512 deep, and left out"])
    #expect(array.objects == ["1: "])
    let lines = JSONReading(.lines, "{\"a\":\(deep)}\n{}")
    #expect(
      lines.problems
        == ["line 1: the field \"a\" has a list in a list, and no field has such"])
    #expect(lines.objects == ["2: "])
  }

  @Test func `text that is not in UTF-8 is reported`() {
    let bytes = Array("{\"a\":\"".utf8) + [0xFF] + Array("\"}\n{}".utf8)
    let reading = JSONReading(.lines, bytes)
    #expect(
      reading.problems == ["line 1: the string before byte 9 of the object is not UTF-8"])
    #expect(reading.objects == ["2: "])
  }

  @Test(arguments: [JSONReader.Layout.lines, .array])
  func `an object that is larger than a limit is left out, wherever the file is cut`(
    layout: JSONReader.Layout
  ) {
    let rows = ["{\"a\":12}", "{\"a\":\"},1\n2\"}", "{\"a\":123}", "{\"a\":[1,2]}", "{}"]
    let text = layout == .array ? "[\(rows.joined(separator: ","))]" : rows.joined(separator: "\n")
    let bytes = Array((layout == .array ? text : text.replacing("1\n2", with: "122")).utf8)
    let whole = JSONReading(layout, bytes, limits: RowLimits(rowBytes: 8))
    #expect(whole.objects.count == 2)
    #expect(whole.problems.count == 3)
    #expect(
      whole.problems[0].hasSuffix("the object is too large and left out: it has at most 8 bytes"))
    for length in 1...bytes.count {
      let reading = JSONReading(
        layout, bytes, inPiecesOf: length, limits: RowLimits(rowBytes: 8))
      #expect(reading == whole, "in pieces of \(length)")
    }
  }

  @Test func `an object of more values than the limit is left out`() {
    let text =
      "{\"a\":[1,2],\"b\":3}\n{\"a\":[1,2,3],\"b\":4}\n{\"a\":[],\"b\":[],\"c\":[],\"d\":[]}"
    let reading = JSONReading(.lines, Array(text.utf8), limits: RowLimits(cells: 3))
    #expect(reading.objects.count == 1)
    #expect(
      reading.problems
        == [2, 3].map { "line \($0): the object is too large: it has at most 3 values" })
  }

  @Test func `of a hundred keys each is found if it is there twice, and told apart by its bytes`() {
    let keys = (0..<100).map { "\"key \($0)\":\($0)" } + ["\"e\u{301}\":1", "\"é\":2"]
    #expect(JSONReading(.lines, "{\(keys.joined(separator: ","))}").problems == [])
    for number in [0, 31, 32, 99] {
      let reading = JSONReading(.lines, "{\((keys + [keys[number]]).joined(separator: ","))}")
      #expect(reading.problems == ["line 1: the key \"key \(number)\" is there twice"])
    }
  }
}
