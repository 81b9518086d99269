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
      file.steps.map { row($0.name, run.end(of: $0.name)) }
      + run.ends.filter { !names.contains($0.unit) }.map { row($0.unit, $0) }
    try write(title(run) + "\n" + table.text(of: rows))
  }

  /// The name of a step or a failed child, its state, and its duration or the reason of the state.
  private func row(_ name: String, _ end: FlowEnd?) -> [String] {
    [name, end?.state.rawValue ?? "not ended", end?.reason ?? end?.duration?.readableTime ?? ""]
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
      return try output.write(try await state.log(of: arguments.step, inRun: arguments.run.name))
    }
    try await state.followLog(of: arguments.step, inRun: arguments.run.name) {
      try output.write($0)
    }
  }

  private func write(_ text: String) throws {
    try StandardOutput().write(Array((text.hasSuffix("\n") ? text : text + "\n").utf8))
  }
}
