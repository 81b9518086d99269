import SystemSupport

/// What happens with a step or a child in a run.
package enum FlowDecision: Hashable, Sendable {
  /// It has succeeded in this run, before an interruption.
  case done
  case upToDate
  case runs(FlowReason)
  /// It runs if a step that it needs changes an output.
  case mayRun(after: String)
  /// It was not selected.
  case excluded

  /// Whether nothing is left to do.
  package var isSettled: Bool {
    switch self {
    case .done, .upToDate, .excluded: true
    case .runs, .mayRun: false
    }
  }
}

/// Why a step or a child runs.
package enum FlowReason: Hashable, Sendable, CustomStringConvertible {
  case selected
  case hasNoOutputs
  case neverSucceeded
  case definitionChanged
  case input(FileDifference)
  case output(FileDifference)
  /// A step that it needs has changed an output, or has none and has run, since this one ran.
  case needChanged(String)
  /// A step that it needs has other children than when this one ran.
  case childrenChanged(String)
  /// It did not need that step when it ran, or does not need it any more.
  case needsChanged(String)
  /// A step that it needs has no outputs, and runs.
  case needRuns(String)
  /// A child has a reason.
  indirect case child(String, FlowReason)
  /// A step runs again after whose end it runs.
  case after(String)
  /// The values of its children come from a step that runs first.
  case valuesUnknown(String)

  package var description: String {
    switch self {
    case .selected: "selected by an option"
    case .hasNoOutputs: "it has no outputs"
    case .neverSucceeded: "it has not succeeded yet"
    case .definitionChanged: "its definition changed"
    case .input(let difference): "\(difference)"
    case .output(let difference): "its output \(difference)"
    case .needChanged(let name): "'\(name.onOneLine)' has run and made something new"
    case .childrenChanged(let name): "the children of '\(name.onOneLine)' are others"
    case .needsChanged(let name): "its need '\(name.onOneLine)' is new, or no longer one"
    case .needRuns(let name): "it needs '\(name.onOneLine)', which runs"
    case .child(let name, let reason): "\(name.onOneLine): \(reason)"
    case .after(let name): "it runs after '\(name)'"
    case .valuesUnknown(let name): "its children depend on '\(name)', which runs first"
    }
  }
}
