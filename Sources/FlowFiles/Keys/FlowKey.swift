/// The keys of a flow file. This is the only table of them: the reader, the schema and the
/// documentation use it.
enum FlowKey: String, CaseIterable, Sendable {
  case flow, width, values, env, defaults, locks, steps
  case run, needs, after
  case onlyIf = "only-if"
  case inputs, outputs, each, retries, backoff, timeout
  case stopGrace = "stop-grace"
  case directory = "in"
  case accept, stdin, interactive

  /// A mapping with keys.
  enum Place: String, CaseIterable, Sendable {
    case file, defaults, step

    var keys: [FlowKey] { FlowKey.allCases.filter { $0.places.contains(self) } }

    /// The keys that must be there.
    var requiredKeys: [FlowKey] {
      switch self {
      case .file: [.flow, .steps]
      case .defaults: []
      case .step: [.run]
      }
    }
  }

  var places: Set<Place> {
    switch self {
    case .flow, .values, .defaults, .steps: [.file]
    case .width, .env, .locks, .stopGrace: [.file, .defaults, .step]
    case .retries, .backoff, .timeout, .directory, .accept: [.defaults, .step]
    case .run, .needs, .after, .onlyIf, .inputs, .outputs, .each, .stdin, .interactive: [.step]
    }
  }

  /// The shape of the value in a place.
  func shape(in place: Place) -> FlowShape {
    switch self {
    case .flow: .name
    case .width: .number(FlowRanges.width)
    case .values: .values
    case .env: .variables
    case .defaults: .defaults
    case .locks: place == .file ? .permits : .locks
    case .steps: .steps
    case .run: .commands
    case .onlyIf: .command
    case .needs, .after: .names
    case .inputs, .outputs: .templates
    case .each: .each
    case .retries: .number(FlowRanges.retries)
    case .backoff, .timeout, .stopGrace: .duration
    case .directory, .stdin: .template
    case .accept: .statuses
    case .interactive: .flag
    }
  }

  /// The meaning of the key, in one or two sentences.
  func summary(in place: Place) -> String {
    switch self {
    case .flow: "The name of the flow."
    case .width:
      switch place {
      case .file:
        "The maximum number of commands that run at once. Default: the number of processors."
      case .defaults: "The maximum number of children that run at once, in each step with 'each'."
      case .step: "The maximum number of children that run at once. Needs 'each'."
      }
    case .values:
      "Names and default texts. '--set name=text' replaces a default, and sets a value without one."
    case .env:
      "Environment variables. For a name in several places, the step precedes the defaults, and the "
        + "defaults precede the file."
    case .defaults: "Fields for all steps that do not have them."
    case .locks:
      place == .file
        ? "The number of permits of each lock. A lock that only steps name has 1 permit."
        : "The locks to hold while a command runs: a list of names, or permits by name."
    case .steps: "The steps by name, in any order."
    case .run:
      "A list is a program with its arguments. A text runs in '/bin/sh -eu -c'. A list of lists is "
        + "several programs, which run in order."
    case .needs: "The steps that must have succeeded."
    case .after: "The steps that must have ended, with any outcome."
    case .onlyIf: "A command: status 0 runs the step, 1 skips it, any other status fails it."
    case .inputs: "Files and patterns with '*' and '**' that the step reads."
    case .outputs:
      "Files and patterns that the step writes. If they are up to date, it does not run."
    case .each:
      "One child for each value: a list, a pattern for files, the lines that a step writes "
        + "(lines-of), or the values of another step (same-as)."
    case .retries: "The number of attempts after the first one. Default: 0."
    case .backoff: "The delay before the second attempt. Each further delay is longer."
    case .timeout: "The maximum duration of an attempt."
    case .stopGrace:
      "The time between SIGTERM and SIGKILL for a command that is told to end. Default: 10s."
    case .directory: "The working directory."
    case .accept: "The exit statuses that count as success. Default: 0."
    case .stdin: "A file for the standard input."
    case .interactive:
      "Whether the commands use the terminal ('true' or 'false'). One such step runs at a time."
    }
  }

  /// Names of other tools for the key.
  var synonyms: Set<String> {
    switch self {
    case .flow: ["name"]
    case .width: ["concurrency", "jobs", "max-parallel", "parallel", "workers"]
    case .values: ["params", "parameters", "variables", "vars"]
    case .env: ["environment"]
    case .defaults: ["default"]
    case .locks: ["mutex", "pool", "pools", "resources"]
    case .steps: ["recipes", "rules", "stages", "targets", "tasks"]
    case .run: ["args", "cmd", "cmds", "command", "commands", "exec", "script", "shell"]
    case .needs: ["dependencies", "depends", "depends-on", "depends_on", "deps", "requires"]
    case .after: ["always-after", "follows"]
    case .onlyIf: ["condition", "if", "only_if", "preconditions", "when"]
    case .inputs: ["input", "sources"]
    case .outputs: ["artifacts", "creates", "generates", "output"]
    case .each: ["for", "for-each", "for_each", "foreach", "loop", "matrix"]
    case .retries: ["attempts", "retry"]
    case .backoff: ["delay"]
    case .timeout: ["deadline", "time-limit"]
    case .stopGrace: ["grace", "grace-period", "kill-after", "stop-timeout"]
    case .directory: ["chdir", "cwd", "dir", "directory", "workdir", "working-directory"]
    case .accept: ["exit-codes", "ok-codes"]
    case .stdin: ["standard-input"]
    case .interactive: ["terminal", "tty"]
    }
  }
}

/// The shape of a value.
enum FlowShape: Sendable {
  case name, template, templates, names, command, commands, each, duration, statuses, flag
  case number(ClosedRange<Int>)
  case values, variables, permits, locks, defaults, steps
}

enum FlowRanges {
  static let width = 1...10_000
  static let retries = 0...1_000
  static let permits = 1...1_000_000
  static let status = 0...255
}
