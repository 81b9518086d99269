import Testing

/// A wrong flow file, and its exact problems.
struct HostileFile: Sendable, CustomTestStringConvertible {
  let text: String
  /// The problems as `line:column: message`.
  let problems: [String]

  init(_ text: String, _ problems: String...) {
    self.text = text
    self.problems = problems
  }

  var testDescription: String { problems.first ?? "no problems" }
}

extension HostileFile {
  static let all =
    syntax + documents + nodes + keys + names + values + commands + numbers + references + outputs
    + inputs + several + columns
}
