import FlowFiles
import Foundation
import TestSupport
import Testing

@Suite(.needsYAML)
struct LimitTests {
  private static let end = "steps: {a: {run: [x]}}\n"

  private func file(_ lines: String) -> String { "flow: f\n\(lines)\n\(Self.end)" }

  @Test func `a file has at most 4 MiB`() {
    let size = 4 << 20
    let start = file("")
    let padding = String(repeating: "#", count: size - start.utf8.count)
    #expect(problems(of: start + padding) == [])
    #expect(problems(of: start + padding + "#") == ["the file is too large; the limit is 4 MiB"])
  }

  @Test func `a device without an end is read up to the limit`() {
    do throws(FlowFileError) {
      _ = try FlowFile.read(contentsOf: "/dev/zero")
      Issue.record("expected an error")
    } catch {
      #expect(error.description == "/dev/zero: the file is too large; the limit is 4 MiB")
    }
  }

  @Test func `a folder is not a file`() throws {
    let folder = try TemporaryFolder()
    do throws(FlowFileError) {
      _ = try FlowFile.read(contentsOf: folder.url.path)
      Issue.record("expected an error")
    } catch {
      #expect(error.problems == [FlowProblem(nil, "the file cannot be read: Is a directory")])
    }
  }

  @Test func `lists are nested at most 32 levels deep`() {
    func nested(_ depth: Int) -> String {
      file("x: " + String(repeating: "[", count: depth) + String(repeating: "]", count: depth))
    }
    // The file is the first level.
    #expect(problems(of: nested(31)) != ["2:34: nested more than 32 levels deep"])
    #expect(problems(of: nested(32)) == ["2:35: nested more than 32 levels deep"])
    #expect(problems(of: nested(32), .json) != problems(of: nested(32)))
    let json = String(repeating: "[", count: 33)
    #expect(problems(of: json, .json) == ["1:33: nested more than 32 levels deep"])
  }

  @Test(.timeLimit(.minutes(10)))
  func `deep nesting ends early in each notation`() {
    let count = 500_000
    for text in ["[", "{", "- ", "? ", "{a: ", "[\n", "- - ", "a:\n "] {
      let found = problems(of: String(repeating: text, count: count))
      #expect(found.count == 1, "\(text)")
    }
  }

  @Test func `a file has at most 500,000 values`() {
    // The other values of the file are 12: 7 texts, 3 mappings and 2 lists.
    let more = String(repeating: "a,", count: 499_988)
    #expect(problems(of: file("x: [\(more)]")) == problems(of: file("x: []")))
    let tooMany = problems(of: file("x: [\(more)a]"))
    #expect(tooMany.count == 1)
    #expect(tooMany.first?.hasSuffix("the file has more than 500000 values") == true)
  }

  @Test func `aliases add at most 1,000 values`() {
    let list = "[" + String(repeating: "x,", count: 99) + "]"
    func aliases(_ count: Int) -> String {
      let entries = (0..<count).map { "b\($0): {run: *a}" }.joined(separator: ", ")
      return "flow: f\nsteps: {a: {run: &a \(list)}, \(entries)}\n"
    }
    #expect(problems(of: aliases(10)) == [])
    #expect(
      problems(of: aliases(11)) == ["2:385: aliases add more than 1000 values to the file"])
  }

  @Test(.timeLimit(.minutes(10)))
  func `100,000 declarations of tags are refused early`() {
    let tags = (0..<100_000).map { "%TAG !\($0)! x\n" }.joined()
    #expect(problems(of: tags + "---\n" + file("")) == ["1:1: tags are not supported: '%TAG'"])
  }

  @Test func `at most 1,000 problems are reported one by one`() throws {
    let keys = (0..<1_234).map { "xxxxxx\($0): 1" }.joined(separator: "\n")
    let found = problems(of: file(keys))
    #expect(found.count == 1_001)
    #expect(found.last == "1001:1: and 234 more problems")
  }

  @Test func `a long text is shortened in a message`() {
    let found = problems(of: "flow: \(String(repeating: "é ", count: 1_000))\n\(Self.end)")
    #expect(
      found == [
        "1:7: the flow name '\(String(repeating: "é ", count: 40))…' is too long; the limit is 128 characters"
      ])
  }

  /// Each of these took quadratic time in a first version, or in libyaml.
  @Test(.timeLimit(.minutes(10)))
  func `large hostile files end in time`() {
    let many = 30_000
    let names = (0..<many).map { "n\($0)" }
    let variables = names.map { "\($0): x" }.joined(separator: ", ")
    let list = names.joined(separator: ", ")
    let files = [
      "flow: f\nsteps: {a: {run: [x], needs: [\(list)]}}",
      "flow: f\nsteps: {a: {run: [x], locks: [\(list)]}}",
      "flow: f\nenv: {\(variables)}\nsteps:\n"
        + names.map { "  \($0): {run: [x], env: {A: b}}\n" }.joined(),
      "flow: f\nvalues: {\(variables)}\nsteps: {a: {run: ["
        + names.map { "'${x\($0)}'" }.joined(separator: ",") + "]}}",
      "flow: f\nsteps: {a: {run: [x], each: [\(list)], outputs: ["
        + names.map { "'${each}\($0)'" }.joined(separator: ",") + "]}}",
      "flow: f\nsteps: {a: {run: [x, '" + String(repeating: "${", count: many) + "']}}",
      "flow: f\nsteps: {a: {run: '" + String(repeating: "$((", count: many) + "'}}",
      "flow: f\nsteps:\n" + names.map { "  \($0): {run: [x], each: {same-as: n1}}\n" }.joined(),
      "flow: f\nsteps:\n"
        + (0..<many).map { "  n\($0): {run: [x], each: {same-as: n\($0 + 1)}}\n" }.joined(),
    ]
    for file in files { #expect(problems(of: file).count <= 1_001) }
  }

  @Test(.timeLimit(.minutes(10)))
  func `L15: large hostile files with patterns end in time`() {
    func steps(_ count: Int, _ text: (Int) -> String) -> String {
      "flow: f\nsteps:\n" + (0..<count).map { "  n\($0): {run: [x], \(text($0))}\n" }.joined()
    }
    let deep = String(repeating: "a/", count: 100_000)
    let stars = String(repeating: "*a", count: 10_000)
    let files = [
      steps(150) { "inputs: ['a*\($0)', 'b*c\($0)'], outputs: ['*b*c*\($0)', 'd\($0)*a']" },
      steps(150) { "inputs: ['a\($0)', 'b*c'], outputs: ['d/\($0)']" },
      steps(150) { "inputs: [d, '*/*\($0)'], outputs: ['d/\($0)']" },
      steps(150) { "inputs: [o0], outputs: ['o\($0)'], needs: [n\(max($0, 1) - 1)]" },
      steps(10) { "inputs: ['\(deep)x', '\(deep)*'], outputs: ['\(deep)\($0)']" },
      steps(2) { "inputs: ['\(stars)\($0)', '\(stars)'], outputs: ['\(stars)b', '\($0)/*']" },
      steps(1) { _ in "inputs: ['\(String(repeating: "{", count: 100_000)),}']" },
      steps(1) { _ in "outputs: ['\(String(repeating: "[", count: 5_000))a'], inputs: a" },
      steps(1) { _ in "outputs: ['\(String(repeating: "[a", count: 5_000))]'], inputs: a" },
      steps(1) { _ in "inputs: ['\(String(repeating: "{a,b}", count: 90))']" },
      steps(1) { _ in
        "inputs: ['\(String(repeating: "{a,", count: 90))\(String(repeating: "}", count: 90))']"
      },
    ]
    for file in files { #expect(problems(of: file).count <= 1_001) }
  }
}
