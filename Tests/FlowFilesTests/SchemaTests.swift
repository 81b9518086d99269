import FlowFiles
import Foundation
import TestSupport
import Testing

struct SchemaTests {
  private func schema() throws -> [String: Any] {
    try #require(
      JSONSerialization.jsonObject(with: Data(FlowSchema.json.utf8)) as? [String: Any])
  }

  private func keys(_ schema: Any?) throws -> [String] {
    let properties = try #require((schema as? [String: Any])?["properties"] as? [String: Any])
    return properties.keys.sorted()
  }

  @Test(.needsYAML)
  func `the schema has the keys that the reader accepts`() throws {
    let found = problems(
      of: """
        flow: f
        zzzzzzzz: 1
        defaults: {zzzzzzzz: 1}
        steps: {a: {run: [x], zzzzzzzz: 1}}
        """)
    let accepted = found.map { problem in
      (problem.split(separator: "expected one of ").last ?? "").split(separator: ", ")
        .map(String.init).sorted()
    }
    let schema = try schema()
    let definitions = try #require(schema["$defs"] as? [String: Any])
    #expect(
      accepted == [
        try keys(schema), try keys(definitions["defaults"]), try keys(definitions["step"]),
      ])
  }

  @Test func `each reference of the schema has a definition`() throws {
    let definitions = try #require(try schema()["$defs"] as? [String: Any])
    let references = FlowSchema.json.matches(of: /"#\/\$defs\/(\w+)"/).map { String($0.1) }
    #expect(references.count > 20)
    #expect(Set(references) == Set(definitions.keys))
  }

  @Test func `the table has a row for each key and meaning`() {
    let rows = FlowSchema.markdown.split(separator: "\n").dropFirst(2)
    #expect(rows.contains("| `flow` | file | The name of the flow. |"))
    #expect(
      rows.contains("| `timeout` | defaults, step | The maximum duration of an attempt. |"))
    #expect(rows.count { $0.hasPrefix("| `width` |") } == 3)
    #expect(rows.allSatisfy { $0.split(separator: "|").count == 3 })
  }

  // MARK: - With a validator

  /// Hostile files whose problems a schema can find.
  private static let wrongShapes = [
    HostileFile.keys[0], .keys[1], .keys[2], .keys[5], .keys[7], .keys[11], .documents[8],
    .documents[10], .documents[13], .documents[18], .names[0], .names[2], .names[8],
    .numbers[0], .numbers[1], .numbers[3], .numbers[4], .commands[1], .commands[5], .keys[10],
  ]

  /// Steps with one wrong field each.
  private static let wrongFields = [
    "run: []", "run: [[]]", "run: \"\"", "run: {a: b}", "run: x, accept: []", "run: x, accept: 256",
    "run: x, retries: -1", "run: x, width: 0", "run: x, timeout: 1d", "run: x, needs: [a, a]",
    "run: x, each: {}", "run: x, each: {matrix: {a: b}}", "run: x, each: {matrix: {a b: []}}",
    "run: x, each: {rows-of: ''}", "run: x, shell: bash", "run: x, shell: []",
    "run: x, each: {lines-of: a, same-as: a}", "run: x, inputs: ''",
    "run: x, locks: {a: 0}", "run: x, env: {'A=B': x}", "run: x, env: {A: [x]}",
    "run: x, needs: '..'", "run: x, compare: size",
  ].map { "{flow: f, steps: {a: {\($0)}}}" }

  @Test(.enabled(if: SchemaValidator.isAvailable, "python3 needs jsonschema and PyYAML"))
  func `the examples are valid, and files with wrong shapes are not`() throws {
    let examples = FlowExamples.all.sorted { $0.key < $1.key }.map(\.value)
    let wrong = Self.wrongShapes.map(\.text) + Self.wrongFields
    let findings = try SchemaValidator.findings(examples + wrong)
    #expect(findings.prefix(3) == ["valid", "valid", "valid"])
    #expect(findings.count == 3 + wrong.count)
    for (finding, text) in zip(findings.dropFirst(3), wrong) {
      #expect(finding != "valid", "\(text)")
    }
  }
}

/// Validates YAML by the schema with the Python packages jsonschema and PyYAML.
private enum SchemaValidator {
  private static let script = """
    import json, sys
    import jsonschema, yaml
    folder = sys.argv[1]
    if folder == "modules": sys.exit()
    schema = json.load(open(folder + "/schema"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    with open(folder + "/findings", "w") as findings:
      for number in range(int(sys.argv[2])):
        errors = list(validator.iter_errors(yaml.safe_load(open(folder + "/" + str(number)))))
        print("; ".join(error.message.replace("\\n", " ") for error in errors) or "valid",
              file=findings)
    """

  private static let python: String? = {
    let environment = ProcessInfo.processInfo.environment
    if let path = environment["COMPOSITE_PYTHON"] { return path }
    return (environment["PATH"] ?? "").split(separator: ":").map { "\($0)/python3" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }()

  static let isAvailable: Bool = {
    guard let python,
      let program = try? TestProgram(python, ["-c", script, "modules"]).start()
    else { return false }
    return program.waitUntilExit() == 0
  }()

  /// Returns a line for each file: `valid` or the errors.
  static func findings(_ files: [String]) throws -> [String] {
    let folder = try TemporaryFolder()
    try Data(FlowSchema.json.utf8).write(to: folder["schema"])
    for (number, file) in files.enumerated() {
      try Data(file.utf8).write(to: folder["\(number)"])
    }
    let python = try #require(python)
    let program = TestProgram(python, ["-c", script, folder.url.path, "\(files.count)"])
    try #require(try program.start(error: .standardError).waitUntilExit() == 0)
    let text = try String(contentsOf: folder["findings"], encoding: .utf8)
    return text.split(separator: "\n").map(String.init)
  }
}
