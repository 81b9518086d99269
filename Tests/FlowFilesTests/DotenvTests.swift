import FlowFiles
import Foundation
import TestSupport
import Testing

@Suite(.needsYAML)
struct DotenvTests {
  /// Reads a flow file with these files of variables.
  private func variables(
    _ files: [String: String], dotenv: String = "a", environment: [String: String] = [:]
  ) throws -> [String: String] {
    let folder = try TemporaryFolder()
    try folder.write(
      "flow: f\nvalues: {v: a}\ndotenv: [\(dotenv)]\nsteps: {s: {run: x}}", to: "flow.yaml")
    for (name, text) in files { try folder.write(text, to: name) }
    do throws(FlowFileError) {
      return try FlowFile(
        contentsOf: folder["flow.yaml"].path, setting: [:], environment: environment
      ).variables
    } catch {
      // The folder has another name each time.
      throw DotenvError("\(error)".replacing(folder.path + "/", with: ""))
    }
  }

  private struct DotenvError: Error, Equatable {
    let text: String

    init(_ text: String) { self.text = text }
  }

  @Test(
    arguments: [
      ("", [:]), ("\u{feff}A=1", ["A": "1"]),
      ("A=1\nB=2\r\n\n \t\nC=3", ["A": "1", "B": "2", "C": "3"]),
      ("# A=1\n  #\nB=2 # c", ["B": "2"]), ("A=a#b #c", ["A": "a#b"]), ("A=#b", ["A": ""]),
      ("A=", ["A": ""]), ("A=\nB=", ["A": "", "B": ""]), ("  A = a b  ", ["A": "a b"]),
      ("export A=1\nexport\tB=2\nexport=3", ["A": "1", "B": "2", "export": "3"]),
      ("A='a # $b `c` \\n \"'", ["A": "a # $b `c` \\n \""]),
      ("A=\"a\\n\\t\\r\\\\\\\"\\$\\`'#\"  # c", ["A": "a\n\t\r\\\"$`'#"]),
      ("A='a\n\nb'\nB=\"c\nd\"", ["A": "a\n\nb", "B": "c\nd"]),
      ("A=''\nB=\"\"", ["A": "", "B": ""]),
      ("A=it's \\n", ["A": "it's \\n"]), ("A=a=b=c", ["A": "a=b=c"]), ("_a1=é", ["_a1": "é"]),
      ("A=1\nA=2", ["A": "2"]),
    ] as [(String, [String: String])])
  func `L17: a file of dotenv has names and texts, in quotes or without`(
    text: String, expected: [String: String]
  ) throws {
    #expect(try variables(["a": text]) == expected)
  }

  @Test(arguments: [
    ("A=1\nB", "a:2:1: expected NAME=value, with letters, digits and '_' in the name"),
    ("export", "a:1:1: expected NAME=value, with letters, digits and '_' in the name"),
    (" 1A=1", "a:1:2: expected NAME=value, with letters, digits and '_' in the name"),
    ("A.B=1", "a:1:1: expected NAME=value, with letters, digits and '_' in the name"),
    ("A B=1", "a:1:1: expected NAME=value, with letters, digits and '_' in the name"),
    ("=1", "a:1:1: expected NAME=value, with letters, digits and '_' in the name"),
    ("A='b\nc", "a:1:3: the value of 'A' has no closing quote"),
    ("A=\"b\\", "a:1:5: unknown escape in the value of 'A'; write '\\\\' for a backslash"),
    ("A=\"é\\d\"", "a:1:5: unknown escape in the value of 'A'; write '\\\\' for a backslash"),
    ("A='b'c", "a:1:6: unexpected text after the closing quote of 'A'"),
    (
      "A=b$c",
      "a:1:4: '$' in the value of 'A' is not replaced; write the value in single quotes, or '\\$' in double quotes"
    ),
    (
      "A=\"`c`\"",
      "a:1:4: '`' in the value of 'A' is not replaced; write the value in single quotes, or '\\`' in double quotes"
    ),
    ("v=1", "a:1:1: the variable 'v' is also a value; rename one of them"),
    ("each=1", "a:1:1: the variable 'each' is also a value; rename one of them"),
    ("A=\0", "a:1:3: the control character U+0000 is not allowed"),
  ])
  func `L17: a wrong line of a file of dotenv is an error with its place`(
    text: String, message: String
  ) throws {
    #expect(throws: DotenvError(message)) { try variables(["a": text]) }
  }

  @Test func `L17: later files of dotenv precede, and the environment precedes all`() throws {
    let files = ["a": "A=1\nB=1\nC=1\nD=1", "b": "B=2\nC=2"]
    #expect(
      try variables(files, dotenv: "'${v}', c?, b?", environment: ["C": "3", "D": "", "E": "5"])
        == ["A": "1", "B": "2"])
    #expect(try variables(files, dotenv: "b, a") == ["A": "1", "B": "1", "C": "1", "D": "1"])
  }

  @Test func `L17: a missing file of dotenv is an error, unless its name ends in a question mark`()
    throws
  {
    #expect(
      throws: DotenvError(
        "flow.yaml:3:14: 'no/b' in dotenv cannot be read: No such file or directory; "
          + "write 'no/b?' if it may be missing")
    ) { try variables(["a": ""], dotenv: "a?, no/b") }
    #expect(
      throws: DotenvError("flow.yaml:3:10: '.' in dotenv cannot be read: Is a directory")
    ) { try variables([:], dotenv: ".?") }
  }
}
