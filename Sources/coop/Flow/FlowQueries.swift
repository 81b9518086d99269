import CommandLineOperations
import FlowFiles
import OperationTracing
import SystemSupport

/// `coop flow show`, `runs`, `status` and `log`.
struct FlowQueries {
  private let arguments: FlowArguments
  private let file: FlowFile

  init(_ arguments: FlowArguments) throws {
    self.arguments = arguments
    file = try FlowFile.read(contentsOf: arguments.file)
  }

  private var state: FlowState { FlowState(of: file, in: arguments.state) }

  /// Prints the graph of the file.
  func show() throws { try write(file.stepGraph.diagram.mermaid) }

  /// Prints a line for each run.
  func runs() async throws {
    let runs = try await state.runs()
    if arguments.isJSON { return try write(runs.map { $0.json(of: file.name) }.joined()) }
    if runs.isEmpty { return try write("'\(file.name)' has not run yet") }
    let output = StandardOutput()
    var table = TableLayout(numbers: [0], width: output.width)
    let head = ["run", "name", "began", "duration", "state", "values"]
    let text = table.text(of: [head] + runs.map(\.cells)) { index, line in
      let isFailed = index > 0 && runs[index - 1].state == .failed
      return isFailed ? output.highlightedFailure(line) : line
    }
    try write(text)
  }

  /// Prints the steps of the last run.
  func status() async throws {
    let name = arguments.run.name
    guard let run = try await state.lastRun(named: name) else {
      let run = name.map { "run '\($0)' of " } ?? ""
      return try write("\(run)'\(file.name)' has not run yet")
    }
    let output = StandardOutput()
    var table = TableLayout(numbers: [], width: output.width)
    let names = Set(file.steps.map(\.name))
    let rows =
      run.steps(of: file).map { [$0.name, $0.state, $0.detail] }
      + run.ends.filter { !names.contains($0.unit) }
      .map { [$0.unit, $0.state.rawValue, $0.reason ?? $0.duration?.readableTime ?? ""] }
    let text = table.text(of: rows) { index, line in
      rows[index][1] == FlowEnd.State.failed.rawValue ? output.highlightedFailure(line) : line
    }
    try write(title(run) + "\n" + text)
  }

  private func title(_ run: FlowReport) -> String {
    let number = "\(run.run)" + (run.name.map { " (\($0))" } ?? "")
    let options = run.selection.map { " with \($0)" } ?? ""
    let state = run.state.text(in: run.process, run.cancellationReason)
    return
      "run \(number) of '\(file.name)'\(options), began at \(run.began.timeWithSeconds): \(state)"
  }

  /// Prints the log of a step or a child.
  func log() async throws {
    let output = StandardOutput()
    guard arguments.follows else {
      try output.write(try await state.log(of: arguments.step, inRun: arguments.run.name))
      return try await noteState()
    }
    try await state.followLog(of: arguments.step, inRun: arguments.run.name) {
      try output.write($0)
    }
  }

  /// Says that the log is not complete.
  private func noteState() async throws {
    guard let run = try await state.lastRun(named: arguments.run.name),
      let step = run.steps(of: file).first(where: { $0.name == arguments.step }),
      let state = FlowStepStatus(rawValue: step.state)
    else { return }
    switch state {
    case .running:
      StandardError().writeLine(
        "coop flow: '\(step.name.onOneLine)' is running; --follow prints its log as it grows")
    case .interrupted:
      StandardError().writeLine(
        "coop flow: '\(step.name.onOneLine)' was interrupted; `coop flow run` runs it again")
    default: break
    }
  }

  private func write(_ text: String) throws {
    if text.isEmpty { return }
    try StandardOutput().write(Array((text.hasSuffix("\n") ? text : text + "\n").utf8))
  }
}

extension FlowRunState {
  /// The state for people.
  ///
  /// - Parameters:
  ///   - process: The process that works on the run.
  ///   - reason: Why it has failed or was cancelled.
  fileprivate func text(in process: Int32?, _ reason: String?) -> String {
    rawValue + (process.map { " in process \($0)" } ?? "") + (reason.map { ": \($0)" } ?? "")
  }
}

extension FlowRunSummary {
  fileprivate var cells: [String] {
    let options = selection.map { ["with \($0)"] } ?? []
    let values = values.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }
    return [
      "\(run)", name ?? "", began.timeWithSeconds, duration.readableTime,
      state.text(in: process, reason),
      (values + options).joined(separator: " "),
    ]
  }

  /// A line with a JSON object.
  fileprivate func json(of flow: String) -> String {
    var json = JSONWriter()
    json.object { json in
      json.member("flow", flow)
      json.member("run", run)
      if let name { json.member("name", name) }
      json.name("values")
      json.object { json in
        for (name, text) in values.sorted(by: { $0.key < $1.key }) { json.member(name, text) }
      }
      if let selection { json.member("selection", selection) }
      json.member("state", state.rawValue)
      if let reason { json.member("reason", reason) }
      if let process { json.member("process", Int(process)) }
      json.member("began", began.iso8601)
      json.name("seconds")
      json.number(duration / .seconds(1))
    }
    return json.text + "\n"
  }
}
