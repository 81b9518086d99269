import FlowFiles
import Foundation
import TestSupport
import Testing

@Suite(.needsYAML)
struct SettingTests {
  private static let file = """
    flow: f
    values: {version: dev, target: "$$x ${version}"}
    steps:
      a: {run: [x, "${version}"], outputs: ["${version}.o"]}
      b: {run: [x], outputs: [taken.o]}
    """

  private func message(_ texts: [String: String]) throws -> String {
    let file = try FlowFile(yaml: Self.file)
    do throws(FlowFileError) {
      _ = try file.setting(texts)
      return ""
    } catch {
      return error.description
    }
  }

  @Test func `L8: stop-grace of a step precedes the defaults, and they precede the file`() throws {
    let steps = "steps: {a: {run: [x], stop-grace: 0s}, b: {run: [x]}}"
    for (head, grace) in [
      ("", 10), ("stop-grace: 1s", 1), ("defaults: {stop-grace: 2s}", 2),
      ("stop-grace: 1s\ndefaults: {stop-grace: 2s}", 2), ("stop-grace: 1s\ndefaults: {}", 1),
    ] {
      let file = try FlowFile(yaml: "flow: f\n\(head)\n\(steps)")
      #expect(file.steps.map(\.stopGrace) == [.zero, .seconds(grace)], "\(head)")
    }
  }

  @Test func `L21: compare of a step precedes the defaults, and they precede the file`() throws {
    let steps = "steps: {a: {run: [x], compare: stamp}, b: {run: [x]}}"
    for (head, comparison) in [
      ("", FlowComparison.stamp), ("compare: content", .content),
      ("defaults: {compare: content}", .content),
      ("compare: content\ndefaults: {compare: stamp}", .stamp),
      ("compare: content\ndefaults: {}", .content),
    ] {
      let file = try FlowFile(yaml: "flow: f\n\(head)\n\(steps)")
      #expect(file.steps.map(\.comparison) == [.stamp, comparison], "\(head)")
    }
  }

  @Test func `a set value replaces the default, and nothing is replaced in it`() throws {
    let file = try FlowFile(yaml: Self.file)
    #expect(file.texts == ["version": "dev", "target": "$x dev"])
    let set = try file.setting(["version": "${target}$$"])
    #expect(set.texts == ["version": "${target}$$", "target": "$x ${target}$$"])
    #expect(set.steps == file.steps)
    #expect(set.steps[0].outputs[0].text(set.texts) == "${target}$$.o")
  }

  @Test func `an unknown value has the name of a similar one`() throws {
    #expect(
      try message(["versoin": "1", "none": "2"]) == """
        flow.yaml: unknown value 'none'
        flow.yaml: unknown value 'versoin'; did you mean 'version'?
        """)
    let file = try FlowFile(yaml: "{flow: f, steps: {a: {run: x}}}")
    #expect(throws: FlowFileError.self) { try file.setting(["a": "b"]) }
  }

  @Test func `L3: a value without a default must be set`() throws {
    let file = try FlowFile(
      yaml: """
        flow: f
        values: {a: , b: "", c: ~, d: }
        steps: {s: {run: ["${a}${b}${c}${d}"]}}
        """)
    #expect(file.texts == ["b": "", "c": "~"])
    #expect(file.values.map(\.text?.source) == [nil, "", "~", nil])
    do throws(FlowFileError) {
      _ = try file.setting(["d": ""])
      Issue.record("expected an error")
    } catch {
      #expect(
        error.description
          == "flow.yaml:2:10: missing value 'a'; set it with --set a=text, or give it a default")
    }
    let set = try file.setting(["a": "x", "d": ""])
    #expect(set.texts == ["a": "x", "b": "", "c": "~", "d": ""])
  }

  @Test func `L3: missing values are reported with the other problems of the file`() throws {
    let folder = try TemporaryFolder()
    let path = folder["flow.yaml"].path
    try Data(
      """
      flow: f
      values: {a: , b: , c: x}
      steps: {s: {run: ["${a}${b}"], needs: t, outputs: ["${c}"]}, u: {run: [x], outputs: [y]}}
      """.utf8
    ).write(to: folder["flow.yaml"])
    do throws(FlowFileError) {
      _ = try FlowFile(contentsOf: path, setting: ["b": "", "c": "y"], environment: [:])
      Issue.record("expected an error")
    } catch {
      #expect(
        error.problems.map(\.outline) == [
          "2:10: missing value 'a'; set it with --set a=text, or give it a default",
          "3:39: unknown step 't' in needs of 's'",
          "3:86: duplicate output y of steps 's' and 'u'",
        ])
    }
    // Without a run, a value may be missing.
    do throws(FlowFileError) {
      _ = try FlowFile.read(contentsOf: path)
      Issue.record("expected an error")
    } catch {
      #expect(error.problems.map(\.outline) == ["3:39: unknown step 't' in needs of 's'"])
    }
  }

  @Test func `L17: a value uses the texts of earlier values, also those that are set`() throws {
    let file = try FlowFile(
      yaml: """
        flow: f
        values: {a: , b: "${a}/$$", c: "${b}${a}"}
        steps: {s: {run: ["${c}"]}}
        """)
    #expect(file.texts == ["b": "${a}/$", "c": "${a}/$${a}"])
    #expect(try file.setting(["a": "1"]).texts == ["a": "1", "b": "1/$", "c": "1/$1"])
    #expect(
      try file.setting(["a": "1", "b": "${a}"]).texts == ["a": "1", "b": "${a}", "c": "${a}1"])
  }

  @Test func `L17: values that use each other have a limit`() throws {
    let doubled = (1...40).map { "v\($0): '${v\($0 - 1)}${v\($0 - 1)}'" }
    #expect(
      problems(
        of: "flow: f\nvalues: {v0: 0123456789abcdef, \(doubled.joined(separator: ", "))}\n"
          + "steps: {s: {run: x}}"
      ).first
        == "2:276: the value 'v14' is too long with the values that it uses; the limit is 131,072 bytes"
    )
    let file = try FlowFile(
      yaml: "{flow: f, values: {a: b, c: '${a}${a}'}, steps: {s: {run: x}}}")
    #expect(throws: FlowFileError.self) {
      try file.setting(["a": String(repeating: "x", count: 70_000)])
    }
  }

  @Test func `L3: outputs are compared again with the set values`() throws {
    #expect(
      try message(["version": "taken"])
        == "flow.yaml:5:27: duplicate output taken.o of steps 'a' and 'b'")
  }

  @Test func `a value cannot contain U+0000`() throws {
    #expect(
      try message(["version": "\0"])
        == "flow.yaml: the value 'version' contains U+0000, which no command can have")
  }
}
