import CommandLineOperations
import DurableOperations
import FlowFiles
import SystemSupport

/// The arguments of `coop flow`.
struct FlowArguments {
  enum Action: String, CaseIterable {
    case run, show, runs, status, log, schema

    static var names: String { "run, show, runs, status, log or schema" }
  }

  let action: Action
  private(set) var options = TraceOptions()
  private(set) var values: [String: String] = [:]
  /// The path of the folder of the state; nil for the one beside the flow file.
  private(set) var state: String?
  /// The steps, the name and the beginning of the run; its name for `status` and `log`.
  private(set) var run = FlowRunOptions()
  private(set) var isDryRun = false
  /// The address of the database whose workers run the commands; nil to run them in this process.
  private(set) var address: String?
  private(set) var queue: String?
  private(set) var isJSON = false
  private(set) var output: FlowOutputMode?
  /// The path of the flow file; empty for `schema`.
  private(set) var file = ""
  /// Whether `log` continues until the step has ended.
  private(set) var follows = false
  /// The step of `log`.
  private(set) var step = ""

  init(_ arguments: ArraySlice<RawPath>) throws(UsageError) {
    var rest = arguments
    let word = rest.popFirst()
    guard let text = word?.text, let action = Action(rawValue: text) else {
      let problem = word.map { "unknown action \($0)" } ?? "no action"
      throw UsageError("flow: \(problem); expected \(Action.names)")
    }
    self.action = action
    var positions: [String] = []
    while let argument = rest.popFirst() {
      if try takeOption(argument, from: &rest) { continue }
      guard let text = argument.text, !text.isEmpty else {
        throw UsageError("flow \(action): the argument \(argument) is not a text; expected UTF-8")
      }
      if text.hasPrefix("-") {
        throw UsageError(
          "flow \(action): unknown option \(argument); expected \(optionNames)")
      }
      positions.append(text)
    }
    try takePositions(positions)
  }

  private static let expectedAddress = "postgresql://USER@HOST/DATABASE"

  private var optionNames: String {
    switch action {
    case .run:
      "--set, --state, --run, --keep-going, --fresh, --force, --from, --only, --dry-run, --on, "
        + "--queue, --output, --timeline, --trace or --json"
    case .runs: "--state or --json"
    case .status: "--run or --state"
    case .log: "--follow, --run or --state"
    case .show, .schema: "no options"
    }
  }

  /// - Returns: Whether the argument is an option.
  private mutating func takeOption(
    _ argument: RawPath, from rest: inout ArraySlice<RawPath>
  ) throws(UsageError) -> Bool {
    switch (argument.text, action) {
    // The second one is its name in an earlier version.
    case ("--state", .run), ("--state", .runs), ("--state", .status), ("--state", .log),
      ("--journal", .run), ("--journal", .runs), ("--journal", .status), ("--journal", .log):
      state = try text(argument.text ?? "", "the path of a folder", &rest)
    case ("--follow", .log), ("-f", .log): follows = true
    case ("--set", .run):
      let pair = try text("--set", "name=text", &rest)
      guard let equal = pair.firstIndex(of: "="), equal > pair.startIndex else {
        throw UsageError("flow run: invalid value \(pair.onOneLine); expected name=text")
      }
      values[String(pair[..<equal])] = String(pair[pair.index(after: equal)...])
    case ("--run", .run), ("--run", .status), ("--run", .log):
      let name = try text("--run", "the name of a run", &rest)
      guard name.isFlowName else {
        throw UsageError(
          "flow \(action): invalid name of a run \(name.onOneLine); expected letters, digits, '.', '_' and "
            + "'-', such as 2026-11-30")
      }
      run.name = name
    case ("--keep-going", .run): run.keepsGoing = true
    case ("--fresh", .run): run.isFresh = true
    case ("--force", .run):
      run.isFresh = true
      run.selection.forcesAll = true
    case ("--from", .run):
      run.selection.from.append(try text("--from", "the name of a step", &rest))
    case ("--only", .run):
      run.selection.only.append(try text("--only", "the name of a step", &rest))
    case ("--dry-run", .run): isDryRun = true
    case ("--on", .run):
      let text = try text("--on", Self.expectedAddress, &rest)
      guard RunStore.isPostgresAddress(text) else {
        // It may be an address with a password.
        throw UsageError("flow run: invalid --on; expected \(Self.expectedAddress)")
      }
      address = text
    case ("--queue", .run): queue = try text("--queue", "the name of a queue", &rest)
    case ("--json", .run), ("--json", .runs): isJSON = true
    case ("--output", .run):
      let text = try text("--output", FlowOutputMode.names, &rest)
      guard let mode = FlowOutputMode(rawValue: text) else {
        throw UsageError(
          "flow run: invalid --output \(text.onOneLine); expected \(FlowOutputMode.names)")
      }
      output = mode
    case (_, .run): return try options.take(argument, from: &rest, for: "flow run")
    default: return false
    }
    return true
  }

  private func text(
    _ option: String, _ expected: String, _ rest: inout ArraySlice<RawPath>
  ) throws(UsageError) -> String {
    guard let text = rest.popFirst()?.text, !text.isEmpty else {
      throw UsageError("flow \(action): \(option) without a value; expected \(expected)")
    }
    return text
  }

  private mutating func takePositions(_ positions: [String]) throws(UsageError) {
    let expected: [String] =
      switch action {
      case .run, .show, .runs, .status: ["FILE"]
      case .log: ["FILE", "STEP"]
      case .schema: []
      }
    // `run` takes any number of steps.
    let most = action == .run ? Int.max : expected.count
    guard positions.count >= expected.count, positions.count <= most else {
      let problem =
        positions.count < expected.count
        ? "no \(expected[positions.count])"
        : "unexpected argument \(positions[expected.count].onOneLine)"
      let list = expected.isEmpty ? "no arguments" : expected.joined(separator: " and ")
      throw UsageError("flow \(action): \(problem); expected \(list)")
    }
    if let file = positions.first { self.file = file }
    if action == .run {
      run.selection.targets = Array(positions.dropFirst())
      if !run.selection.targets.isEmpty, !run.selection.from.isEmpty || !run.selection.only.isEmpty
      {
        throw UsageError(
          "flow run: \(run.selection.targets[0].onOneLine) and --from or --only; expected steps, or "
            + "options with steps")
      }
    } else if positions.count > 1 {
      step = positions[1]
    }
    if run.name != nil, !run.selection.from.isEmpty || !run.selection.only.isEmpty {
      throw UsageError(
        "flow run: --run with --from or --only, which begin a run of their own; expected one of them"
      )
    }
    if queue != nil, address == nil {
      throw UsageError("flow run: --queue without --on; expected --on ADDRESS")
    }
  }
}
