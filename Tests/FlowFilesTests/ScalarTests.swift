import FlowFiles
import Testing

@Suite(.needsYAML)
struct ScalarTests {
  /// Each scalar, as the value of a key, and its text.
  private static let scalars: [(String, String?)] = [
    ("no", "no"), ("true", "true"), ("1.10", "1.10"), ("0o17", "0o17"), ("0x1F", "0x1F"),
    ("1_000", "1_000"), ("1e3", "1e3"), ("+1", "+1"), (".inf", ".inf"), ("~", "~"),
    ("null", "null"), ("NULL", "NULL"), ("2026-11-27", "2026-11-27"), ("12:30:45", "12:30:45"),
    ("=", "="), ("a b  c", "a b  c"), ("a:b", "a:b"), ("a#b", "a#b"), ("-", nil), ("-a", "-a"),
    ("--- a", "--- a"), ("?a", "?a"), (":a", ":a"), ("'no'", "no"), ("\"no\"", "no"),
    ("''", ""), ("\"\"", ""), ("'it''s'", "it's"), ("'a\\nb'", "a\\nb"),
    (#""a\nb\t\"\\\x41\u00e9\U0001F680""#, "a\nb\t\"\\Aé\u{1F680}"), ("a # comment", "a"),
    ("a\n    b\n\n    c", "a b\nc"), ("'a\n    b'", "a b"), ("\"a\\\n    \\ b\"", "a b"),
    ("|\n    a\n     b\n\n    c\n", "a\n b\n\nc\n"), ("|-\n    a\n", "a"),
    ("|+\n    a\n\n", "a\n\n\n"),
    (">\n    a\n    b\n\n    c\n", "a b\nc\n"), (">-\n    a\n     b\n    c\n", "a\n b\nc"),
    ("|2\n     a\n", " a\n"), ("&anchor a", "a"), ("", nil), ("# comment", nil),
    ("|\n", ""), ("\u{a0}", "\u{a0}"), ("<<", "<<"),
  ]

  @Test(arguments: scalars)
  func `a scalar is the text that is written`(scalar: String, text: String?) throws {
    let file = "flow: f\nvalues:\n  a: \(scalar)\nsteps: {s: {run: [x]}}\n"
    if scalar == "-" {
      #expect(problems(of: file) == ["3:6: block sequence entries are not allowed in this context"])
    } else {
      let value = try #require(try FlowFile(yaml: file).values.first)
      #expect(value.text?.source == text)
    }
  }

  @Test func `keys are texts`() throws {
    let file = try FlowFile(
      yaml: "flow: f\nenv: {1: a, no: b, \"c d\": e, ~: f, '<<': g}\nsteps: {1.0: {run: [x]}}")
    #expect(file.environment.map(\.name) == ["1", "no", "c d", "~", "<<"])
    #expect(file.steps.map(\.name) == ["1.0"])
  }

  @Test func `notations of lists and mappings are the same`() throws {
    let block = """
      %YAML 1.1
      --- # A comment.
      flow: f
      steps:
        a:
          run:
          - x
          - y
          needs:
            - b
        ? b
        :
          run: [ x, y, ]
      ...
      """
    let flow = #"{"flow":"f","steps":{"a":{"run":["x","y"],"needs":["b"]},b: {run: [x,y]}}}"#
    let files = try [block, flow].map { try FlowFile(yaml: $0) }
    for file in files {
      #expect(file.order == [1, 0])
      #expect(
        file.steps.map { $0.definition(values: [:], environment: [:]) }
          == Array(
            repeating:
              #"{"accept":[0],"env":{},"environment":{},"run":[["x","y"]],"values":{}}"#, count: 2)
      )
    }
  }
}
