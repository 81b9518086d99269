/// What is decided, run and stored as a whole: a step without `each`, or a child of a step.
package struct FlowUnit: Sendable {
  let step: FlowStep
  /// The value of a child; nil for a step.
  let each: String?

  package init(step: FlowStep, each: String?) {
    (self.step, self.each) = (step, each)
  }

  /// The name: `step`, or `step[value]`.
  package var name: String { each.map { "\(step.name)[\($0)]" } ?? step.name }

  /// A text in ASCII that identifies the unit among the processes: names are bytes.
  var processName: String { FlowFolder.fileName(name) }

  /// The working folder, as it is in the file.
  func directory(_ values: [String: String]) -> String? {
    step.directory?.text(values, each: each)
  }
}

extension FlowStep {
  /// The names of the steps that must have succeeded.
  var neededNames: [String] { (each?.reference.map { [$0.name] } ?? []) + needs.map(\.name) }

  /// The names of the steps whose products the step may use: with `outputs`, also those in `after`.
  var usedNames: [String] { neededNames + (outputs.isEmpty ? [] : after.map(\.name)) }

  /// The step, or its children if it has `each`.
  func units(_ values: [String]?) -> [FlowUnit] {
    guard each != nil else { return [FlowUnit(step: self, each: nil)] }
    return (values ?? []).map { FlowUnit(step: self, each: $0) }
  }
}

extension String {
  /// The step of a name such as `step[value]`. The bracket may be a part of a character, because a
  /// value can begin with an accent.
  var stepName: String {
    String(decoding: utf8.prefix { $0 != UInt8(ascii: "[") }, as: UTF8.self)
  }
}
