import RecordOperations
import Testing

@Suite struct JSONReaderTests {
  @Test(arguments: [
    ("{}", ""),
    (" { } ", ""),
    (#"{"a":1}"#, "a = 1"),
    (#"{"b":null,"a":true,"c":false}"#, "b = null, a = 1, c = 0"),
    (
      #"{"a":9223372036854775807,"b":-9223372036854775808,"c":-0}"#,
      "a = 9223372036854775807, b = -9223372036854775808, c = 0"
    ),
    (
      #"{"a":1.0,"b":1e2,"c":-0.5E-1,"d":9007199254740993.0,"e":0e-400}"#,
      "a = 1.0, b = 100.0, c = -0.05, d = 9007199254740992.0, e = 0.0"
    ),
    (#"{"a":"b","":"","é":"漢😀"}"#, #"a = "b",  = "", é = "漢😀""#),
    (
      #"{"a":"\"\\\/\b\f\n\r\t\u0041\u00e9\ud83d\ude00\u0000\u2028"}"#,
      #"a = "\"\\/\u{08}\u{0C}\n\r\tAé😀\0\#u{2028}""#
    ),
    (
      #"{"a" : [ ] ,"b":[1,"x",null,true,2.5]}"#,
      #"a = [], b = [1, "x", null, "#
        + #"1, 2.5]"#
    ),
    (#"{"a":"[{]}\\","b":"}\""}"#, #"a = "[{]}\\", b = "}\"""#),
    (
      "\t{\t\"a\"\r:\r1\t,\t\"b\":\t[\t1\t]\r}\r", "a = 1, b = [1]"
    ),
  ])
  func `an object is read with its keys in order`(text: String, fields: String) {
    for reading in [JSONReading(.lines, text), JSONReading(.array, "[\(text)]")] {
      #expect(reading.objects == ["1: \(fields)"])
      #expect(reading.problems == [])
    }
  }

  @Test(
    arguments: [
      (.lines, "", []), (.lines, "\n \n\r\n\t", []), (.array, "[]", []), (.array, " [ \n ] \n", []),
      (.lines, "{\"a\":1}\n\n{\"a\":2}\r\n{\"a\":3}", [1, 3, 4]),
      (.array, "[\n{\"a\":1},\n{\"a\":\n2}, {\"a\":3}\n]\n", [2, 3, 4]),
      (.lines, "\u{FEFF}{\"a\":1}\n", [1]), (.array, "\u{FEFF}\n[{}]\n", [2]),
    ] as [(JSONReader.Layout, String, [Int])])
  func `each object has the number of the line on which it begins`(
    layout: JSONReader.Layout, text: String, lines: [Int]
  ) {
    let reading = JSONReading(layout, text)
    #expect(reading.objects.compactMap { Int($0.prefix { $0 != ":" }) } == lines)
    #expect(reading.problems == [])
  }

  @Test(
    arguments: [
      (
        .array, "\u{FEFF}[{\"a\\\"\":\"é}\\u00e9\"},\n [1,\"]\"], {\"b\":[1]}{\"c\":{}},,{\"d\"}] x"
      ),
      (.array, "[{\"a\":\"\\\\\"}, nonsense \"],{\" ,{\"b\":{\"c\":[}]}},{\"open\":\"\n]"),
      (.lines, "{\"a\":\"é\"}\r\n\n[1]\n{\"b\":{}}\n{\"c\":\"\u{1}\"}\n{\"d\":\"\\ud83d\\ude00\"}"),
      (.array, "\u{FEFE}[]"),
    ] as [(JSONReader.Layout, String)])
  func `objects and problems do not depend on where the input is split`(
    layout: JSONReader.Layout, text: String
  ) {
    let bytes = Array(text.utf8)
    let whole = JSONReading(layout, bytes)
    for first in 0...bytes.count {
      for second in first...bytes.count {
        #expect(
          JSONReading(layout, bytes, cutAt: [first, second]) == whole, "cut at \(first), \(second)")
      }
    }
    #expect(JSONReading(layout, bytes, inPiecesOf: 1) == whole)
  }
}
