/// A checked flow file: the steps of a flow and how they depend on each other.
///
/// The file is YAML, or JSON if its name ends in `.json` or libyaml was missing at build time. All
/// scalars are texts, and the field decides how to read them: `~`, `null` and `no` are ordinary texts.
/// A plain empty value, such as after `version:`, is no text. In `values` it declares a value without a
/// default, in `env` it is an empty text, and elsewhere it is a problem.
public struct FlowFile: Hashable, Sendable {
  /// The name of the flow.
  public let name: String
  /// The path, as the caller gave it.
  public let path: String
  /// The maximum number of commands that run at once; nil for the number of processors.
  package let width: Int?
  /// How long after its last sign of life a run that has not succeeded is continued.
  package let resumeWithin: Duration
  /// Which runs keep their logs and steps.
  let kept: FlowKeep
  /// The time between SIGTERM and SIGKILL for commands of steps that the file no longer has.
  package let stopGrace: Duration
  /// The values in the order of the file.
  package internal(set) var values: [FlowValue]
  /// The files of `dotenv`.
  package let dotenv: [FlowTemplate]
  /// The variables of the files of `dotenv` that the process does not have; empty before they are read.
  package internal(set) var variables: [String: String] = [:]
  /// The names of the variables whose texts are hidden.
  let secrets: [String]
  /// Where the output of the commands is shown. A run may have another mode than its file.
  public var output: FlowOutputMode
  /// The commands of `on`.
  let occasions: [FlowOccasion: FlowCommand]
  /// The shell of texts in `on`.
  let shell: [FlowTemplate]
  /// The variables of `env`. The steps repeat them.
  package let environment: [FlowVariable]
  /// The number of permits of each lock, also of those that only steps name.
  package let locks: [String: Int]
  /// The steps in the order of the file; at least one.
  package let steps: [FlowStep]
  /// The names of the steps in the order of the file.
  public var stepNames: [String] { steps.map(\.name) }
  /// The indices of the steps by name.
  package let indices: [String: Int]
  /// The indices of the steps in an order in which each step follows its dependencies. Otherwise the
  /// steps keep the order of the file.
  package let order: [Int]
}

/// Which runs keep their logs and the ends of their steps: the last ones that are not too old, and
/// the one that runs.
struct FlowKeep: Hashable, Sendable {
  var runs = 100
  var days = 30
}

/// Where the output of the commands is shown, in addition to the logs.
public enum FlowOutputMode: String, CaseIterable, Hashable, Sendable {
  /// Nowhere else.
  case quiet
  /// Each line, with the name of its step.
  case live
  /// All lines of a step when it ends, with its name.
  case grouped
}

/// One of the words that a field can have.
package protocol FlowChoice: RawRepresentable<String>, CaseIterable, Hashable, Sendable {}

extension FlowOutputMode: FlowChoice {}

extension FlowChoice {
  /// The words, for messages: `quiet, live or grouped`.
  package static var names: String {
    let names = allCases.map(\.rawValue)
    return names.dropLast().joined(separator: ", ") + " or " + (names.last ?? "")
  }
}

/// A value of a flow file.
package struct FlowValue: Hashable, Sendable {
  package let name: String
  /// The default, which may use earlier values, or the text that ``FlowFile/setting(_:)`` has set, in
  /// which nothing is replaced. Nil if there is neither, as after `version:`.
  package let text: FlowTemplate?
  /// The location of the name.
  package let location: FlowLocation
}
