/// The keys of a flow file. This is the only table of them: the reader, the schema and the
/// documentation use it.
enum FlowKey: String, CaseIterable, Sendable {
  case flow, width, values, dotenv, env, shell, output, on, defaults, locks, steps
  case run, needs, after
  case onlyIf = "only-if"
  case inputs, outputs, compare, each, retries, backoff, timeout
  case stopGrace = "stop-grace"
  case directory = "in"
  case accept, stdin, manual, interactive
  case resumeWithin = "resume-within"
  case keep, secrets

  /// A mapping with keys.
  enum Place: String, CaseIterable, Sendable {
    case file, defaults, step

    var keys: [FlowKey] { FlowKey.allCases.filter { $0.places.contains(self) } }

    /// The keys that must be there. A step with `needs` may only group others, without `run`.
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
    case .flow, .values, .dotenv, .output, .on, .defaults, .steps, .resumeWithin, .keep, .secrets:
      [.file]
    case .width, .env, .shell, .locks, .compare, .stopGrace: [.file, .defaults, .step]
    case .retries, .backoff, .timeout, .directory, .accept: [.defaults, .step]
    case .run, .needs, .after, .onlyIf, .inputs, .outputs, .each, .stdin, .manual, .interactive:
      [.step]
    }
  }

  /// The shape of the value in a place.
  func shape(in place: Place) -> FlowShape {
    switch self {
    case .flow: .name
    case .width: .number(FlowRanges.width)
    case .values: .values
    case .env: .variables
    case .shell: .words
    case .output: .choice(FlowOutputMode.allCases.map(\.rawValue))
    case .on: .occasions
    case .defaults: .defaults
    case .locks: place == .file ? .permits : .locks
    case .steps: .steps
    case .run: .commands
    case .onlyIf: .command
    case .needs, .after: .names
    case .secrets: .names
    case .dotenv, .inputs, .outputs: .templates
    case .compare: .choice(FlowComparison.allCases.map(\.rawValue))
    case .each: .each
    case .retries: .number(FlowRanges.retries)
    case .backoff, .timeout, .stopGrace, .resumeWithin: .duration
    case .directory, .stdin: .template
    case .accept: .statuses
    case .manual, .interactive: .flag
    case .keep: .keep
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
      "Names and default texts, which may use earlier values. '--set name=text' replaces a "
        + "default, and sets a value without one."
    case .dotenv:
      "Files with environment variables, such as '.env'. A later file precedes, and the "
        + "environment of 'coop' precedes all of them. A file whose name ends in '?' may be missing."
    case .env:
      "Environment variables. For a name in several places, the step precedes the defaults, and the "
        + "defaults precede the file."
    case .shell:
      "The program and the arguments before a text of 'run' and 'only-if', such as "
        + "'[bash, -euo, pipefail, -c]'. Default: '[/bin/sh, -eu, -c]'."
    case .output:
      "The output of the commands: in the logs only ('quiet', the default), also each line with "
        + "the name of its step ('live'), or all lines of a step when it ends ('grouped')."
    case .on:
      "Commands that run after all steps have ended: for 'success', 'failure', 'interrupted' and "
        + "'always'."
    case .defaults: "Fields for all steps that do not have them."
    case .locks:
      place == .file
        ? "The number of permits of each lock. A lock that only steps name has 1 permit."
        : "The locks to hold while a command runs: a list of names, or permits by name."
    case .steps: "The steps by name, in any order."
    case .run:
      "Without it, a step groups those in 'needs'. A list is a program with its arguments. A text "
        + "runs in the 'shell'. A list of lists is "
        + "several programs, which run in order."
    case .needs: "The steps that must have succeeded."
    case .after: "The steps that must have ended, with any outcome."
    case .onlyIf: "A command: status 0 runs the step, 1 skips it, any other status fails it."
    case .inputs: "Files, folders and patterns that the step reads."
    case .outputs:
      "Files, folders and patterns that the step writes. If they are up to date, it does not run."
    case .compare:
      "When a file of 'inputs' or 'outputs' has changed: with another size, time or inode ('stamp', the "
        + "default), or only with other contents ('content')."
    case .each:
      "One child for each value: a list, a pattern for files, the lines that a step writes "
        + "(lines-of), the values of another step (same-as), all combinations of some lists (matrix), "
        + "or the rows of a table (rows-of)."
    case .retries: "The number of attempts after the first one. Default: 0."
    case .backoff: "The delay before the second attempt. Each further delay is longer."
    case .timeout: "The maximum duration of an attempt."
    case .stopGrace:
      "The time between SIGTERM and SIGKILL for a command that the flow terminates. Default: 10s."
    case .directory: "The working directory."
    case .accept: "The exit statuses that count as success. Default: 0."
    case .stdin: "A file for the standard input."
    case .manual:
      "With true, the step runs only if the command line names it or a step that needs it."
    case .resumeWithin:
      "How long after its end a run that has not succeeded is continued by the same command. "
        + "Default: 12h."
    case .keep:
      "How many runs keep their logs and steps, and for how long: '{runs: 100, days: 30}', which is "
        + "the default."
    case .secrets:
      "The names of variables of the environment, 'env' or 'dotenv' whose texts are replaced by '***' in logs and "
        + "messages, and stored only as keyed hashes."
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
    case .dotenv: ["env-file", "env_file", "envfile"]
    case .env: ["environment"]
    case .shell: ["interpreter", "shebang"]
    case .on: ["handlers", "hooks", "notify"]
    case .output: ["output-sync", "log", "logs"]
    case .defaults: ["default"]
    case .locks: ["mutex", "pool", "pools", "resources"]
    case .steps: ["recipes", "rules", "stages", "targets", "tasks"]
    case .run: ["args", "cmd", "cmds", "command", "commands", "exec", "script"]
    case .needs: ["dependencies", "depends", "depends-on", "depends_on", "deps", "requires"]
    case .after: ["always-after", "follows"]
    case .onlyIf: ["condition", "if", "only_if", "preconditions", "when"]
    case .inputs: ["input", "sources"]
    case .outputs: ["artifacts", "creates", "generates", "output"]
    case .compare: ["checksum", "comparison", "hash", "method"]
    case .each: ["for", "for-each", "for_each", "foreach", "loop", "matrix"]
    case .retries: ["attempts", "retry"]
    case .backoff: ["delay"]
    case .timeout: ["deadline", "time-limit"]
    case .stopGrace: ["grace", "grace-period", "kill-after", "stop-timeout"]
    case .directory: ["chdir", "cwd", "dir", "directory", "workdir", "working-directory"]
    case .accept: ["exit-codes", "ok-codes"]
    case .stdin: ["standard-input"]
    case .manual: ["phony", "private"]
    case .resumeWithin: ["resume", "resume-for"]
    case .interactive: ["terminal", "tty"]
    case .secrets: ["masked", "secret", "sensitive"]
    case .keep: ["history", "log-retention", "retention"]
    }
  }
}

/// The shape of a value.
enum FlowShape: Sendable {
  case name, template, templates, names, words, command, commands, each, duration, statuses, flag
  case number(ClosedRange<Int>)
  case values, variables, permits, locks, occasions, keep, defaults, steps
  /// One of some words.
  case choice([String])
}

enum FlowRanges {
  static let width = 1...10_000
  static let retries = 0...1_000
  static let permits = 1...1_000_000
  static let status = 0...255
  static let keptRuns = 1...1_000
  static let keptDays = 1...3_650
}
