/// A checked flow file: the steps of a flow and how they depend on each other.
///
/// The file is YAML, or JSON if its name ends in `.json` or libyaml was missing at build time. All
/// scalars are texts, and the field decides how to read them: `~`, `null` and `no` are ordinary texts.
/// A plain empty value, such as after `version:`, is no text. In `values` it declares a value without a
/// default, in `env` it is an empty text, and elsewhere it is a problem.
package struct FlowFile: Hashable, Sendable {
  package let name: String
  /// The path, as the caller gave it.
  package let path: String
  /// The maximum number of commands that run at once; nil for the number of processors.
  package let width: Int?
  /// The time between SIGTERM and SIGKILL for commands of steps that the file no longer has.
  package let stopGrace: Duration
  /// The values in the order of the file.
  package let values: [FlowValue]
  /// The variables of `env`. The steps repeat them.
  package let environment: [FlowVariable]
  /// The number of permits of each lock, also of those that only steps name.
  package let locks: [String: Int]
  /// The steps in the order of the file; at least one.
  package let steps: [FlowStep]
  /// The indices of the steps by name.
  package let indices: [String: Int]
  /// The indices of the steps in an order in which each step follows its dependencies. Otherwise the
  /// steps keep the order of the file.
  package let order: [Int]
}

/// A value of a flow file.
package struct FlowValue: Hashable, Sendable {
  package let name: String
  /// The default, or the text that ``FlowFile/setting(_:)`` has set. Nothing is replaced in it. Nil if
  /// there is neither, as after `version:`.
  package let text: String?
  /// The location of the name.
  package let location: FlowLocation
}

extension FlowFile {
  init(_ file: FlowFile, values: [FlowValue]) {
    self.init(
      name: file.name, path: file.path, width: file.width, stopGrace: file.stopGrace,
      values: values,
      environment: file.environment, locks: file.locks, steps: file.steps, indices: file.indices,
      order: file.order)
  }
}
