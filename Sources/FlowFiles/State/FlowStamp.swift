/// The last success of a step or a child.
struct FlowStamp: Codable, Hashable, Sendable {
  /// The name of the step or the child.
  let unit: String
  /// The number of the run.
  let run: Int
  let definition: String
  /// The state of the inputs before the commands ran.
  let inputs: String
  /// The state of the outputs after the commands ran.
  let outputs: String
  /// The lines of a step that another step reads with `lines-of`.
  let lines: [String]?
  /// When it ended, in nanoseconds since 1970.
  let ended: Int64
  /// When the outputs last changed. Without outputs, when those of the steps that it needs did.
  let changed: Int64
  /// When it first succeeded with this definition and those of the steps that it needs.
  let since: Int64
  /// The duration in nanoseconds.
  let duration: Int64
}

/// What the steps that need a step have to know of it.
struct FlowStepState: Hashable, Sendable {
  /// See ``FlowStamp/changed``.
  var changed: Int64 = 0
  /// See ``FlowStamp/since``.
  var since: Int64 = 0
  /// Whether the last success had the present definition, and the steps that it needs had theirs.
  var isCurrent = true
  var lines: [String]?

  init() {}

  init(_ stamp: FlowStamp, isCurrent: Bool = true) {
    (changed, since, lines) = (stamp.changed, stamp.since, stamp.lines)
    self.isCurrent = isCurrent
  }

  /// Combines the states of several steps or children.
  init(_ states: some Sequence<FlowStepState>) {
    for state in states {
      changed = max(changed, state.changed)
      since = max(since, state.since)
      isCurrent = isCurrent && state.isCurrent
    }
  }
}
