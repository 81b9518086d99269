import CommandLineOperations
import FlowFiles
import OperationTracing

/// `coop flow show`, `status` and `log`.
struct FlowQueries {
  private let arguments: FlowArguments
  private let file: FlowFile

  init(_ arguments: FlowArguments) throws {
    self.arguments = arguments
    file = try FlowFile.read(contentsOf: arguments.file)
  }

  private var history: FlowHistory { FlowHistory(of: file, journal: arguments.journal) }

  /// Prints the graph of the file.
  func show() throws { try write(file.stepGraph.diagram.mermaid) }

  /// Prints the steps of the last run.
  func status() async throws {
    guard let status = try await history.status() else {
      return try write("'\(file.name)' has not run yet")
    }
    var table = TableLayout(numbers: [], width: StandardOutput().width)
    try write(status.title + "\n" + table.text(of: status.rows))
  }

  /// Prints the log of a step or a child.
  func log() throws { try StandardOutput().write(history.log(of: arguments.step)) }

  private func write(_ text: String) throws {
    try StandardOutput().write(Array((text.hasSuffix("\n") ? text : text + "\n").utf8))
  }
}
