import FlowFiles
import Testing

struct JSONFileTests {
  private static let release = #"""
    {
      "flow": "release", "width": 2, "values": {"version": "dev", "count": 1.10, "none": null},
      "defaults": {"timeout": "20m"},
      "steps": {
        "build": {"run": [["a", "b/${version}"], ["c"]], "accept": [0, 9], "retries": 2},
        "test\u0031": {
          "run": "echo \"$version\"\n",
          "needs": ["build"]
        },
        "last": {"run": [true], "each": {"lines-of": "build"}, "needs": []}
      }
    }
    """#

  @Test(.needsYAML)
  func `both readers read JSON as the same model with the same locations`() throws {
    let bytes = Array(Self.release.utf8)
    let json = try FlowFile(parsing: bytes, path: "f", format: .json)
    let yaml = try FlowFile(parsing: bytes, path: "f", format: .yaml)
    #expect(json == yaml)
    #expect(json.steps.count == 3)
    #expect(json.texts == ["version": "dev", "count": "1.10", "none": "null"])
  }

  @Test func `a file with the extension json is JSON`() throws {
    // libyaml does not read pairs of surrogates.
    let text = #"{"flow": "f", "steps": {"a": {"run": ["\ud83d\ude80"]}}}"#
    let file = try FlowFile(parsing: Array(text.utf8), path: "a/flow.JSON")
    guard case .program(let words) = file.steps[0].commands[0] else {
      Issue.record("expected a program")
      return
    }
    #expect(words.map(\.source) == ["\u{1F680}"])
  }

  @Test(arguments: [
    ("", "1:1: the file is empty; expected the keys 'flow' and 'steps'"),
    (" \n", "1:1: the file is empty; expected the keys 'flow' and 'steps'"),
    ("flow: f", "1:1: expected a string, number, list or object, found \"f\""),
    ("{", "1:2: expected a string as the key, found the end of the file"),
    ("{\n \"flow\" \"f\"}", "2:9: expected a colon, found \"\"\""),
    ("{\"flow\": \"f\"\n\n \"steps\"", "3:2: expected a comma or \"}\", found \"\"\""),
    ("{\"a\": [1 2]}", "1:10: expected a comma or \"]\", found \"2\""),
    ("{\"a\": 1}}", "1:9: expected the end of the file, found \"}\""),
    ("{\"a\": \"x", "1:9: expected the closing quote of a string, found the end of the file"),
    ("{\"a\": \"\t\"}", "1:8: expected an escaped control character, found the byte 0x9"),
    ("{\"a\": \"\\q\"}", "1:9: expected one of \" \\ / b f n r t u after a backslash, found \"q\""),
    ("{\"a\": -}", "1:8: expected a digit, found \"}\""),
    ("{\"a\": 01}", "1:8: expected a comma or \"}\", found \"1\""),
    ("{a: 1}", "1:2: expected a string as the key, found \"a\""),
    ("{\"a\": 1,}", "1:9: expected a string as the key, found \"}\""),
    ("[1", "1:3: expected a comma or \"]\", found the end of the file"),
    (
      "{\"a\":\n\"\\ud800\"}",
      "2:8: the string has \\ud800, which is an unpaired surrogate and not a character"
    ),
  ])
  func `a syntax error of JSON has a position`(text: String, problem: String) {
    #expect(problems(of: text, .json) == [problem])
  }

  @Test func `the checks of a JSON file have positions`() {
    let text = """
      {"flow": "f", "flow": "g",
       "steps": {"a": {"run": [], "need": "b"}, "a": {"run": "x"}}}
      """
    #expect(
      problems(of: text, .json) == [
        "1:15: duplicate key 'flow' in the file; the first is in line 1",
        "2:25: the command in run of 'a' is empty",
        "2:29: unknown key 'need' in step 'a'; expected 'needs'",
        "2:43: duplicate step 'a'; the first is in line 2",
      ])
  }

  @Test func `a program without libyaml says so for a file that is not JSON`() throws {
    #expect(
      problems(of: "flow: f", .yamlWithoutLibrary) == [
        "1:1: expected a string, number, list or object, found \"f\"; this program reads only JSON, because YAML needs libyaml at build time"
      ])
    #expect(
      problems(of: "", .yamlWithoutLibrary) == [
        "1:1: the file is empty; expected the keys 'flow' and 'steps'"
      ])
    #expect(problems(of: Self.release, .yamlWithoutLibrary) == [])
  }
}
