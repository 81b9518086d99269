import CommandLineOperations
import FlowFiles
import OperationTracing
import SystemSupport

/// `coop flow show`, `status` and `log`.
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

  /// Prints the steps of the last run.
  func status() async throws {
    let name = arguments.run.name
    guard let run = try await state.lastRun(named: name) else {
      let run = name.map { "run '\($0)' of " } ?? ""
      return try write("\(run)'\(file.name)' has not run yet")
    }
    var table = TableLayout(numbers: [], width: StandardOutput().width)
    let names = Set(file.steps.map(\.name))
    let rows =
      run.steps(of: file).map { [$0.name, $0.state, $0.detail] }
      + run.ends.filter { !names.contains($0.unit) }
      .map { [$0.unit, $0.state.rawValue, $0.reason ?? $0.duration?.readableTime ?? ""] }
    try write(title(run) + "\n" + table.text(of: rows))
  }

  private func title(_ run: FlowReport) -> String {
    let number = "\(run.run)" + (run.name.map { " (\($0))" } ?? "")
    let options = run.selection.map { " with \($0)" } ?? ""
    let state = run.state == .cancelled ? "replaced by a later run" : run.state.rawValue
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
    try StandardOutput().write(Array((text.hasSuffix("\n") ? text : text + "\n").utf8))
  }
}
