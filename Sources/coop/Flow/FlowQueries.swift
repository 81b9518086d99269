import CommandLineOperations
import CompositeOperations
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

  private var folder: FlowFolder {
    FlowFolder(ofFile: arguments.file, flow: file.name, journal: arguments.journal)
  }

  /// Prints the graph of the file.
  func show() throws {
    let graph = OperationGraph(giving: Void.self) { [file] graph in
      file.addSteps(to: &graph) { _ in
        true
      } operation: { _, _ in
        SimpleOperation { FlowStepState() }
      }
    }
    try write(graph.diagram.mermaid)
  }

  /// Prints the steps of the last run.
  func status() async throws {
    let folder = folder
    guard !FileSystem.isMissing(folder.journal) else {
      return try write("'\(file.name)' has not run yet")
    }
    let journal = FlowJournal(of: file.name, in: folder)
    try await journal.open()
    do {
      let status = try await FlowStatus(file, journal, folder)
      await journal.close()
      try write(status.text)
    } catch {
      await journal.close()
      throw error
    }
  }

  /// Prints the log of a step or a child.
  func log() throws {
    let name = arguments.step
    let step = name.utf8.last == UInt8(ascii: "]") ? name.stepName : name
    try file.checkStep(step)
    let path = folder.log(of: name)
    let contents: [UInt8]
    do { contents = try FileDescriptor.contents(ofFile: path) } catch {
      guard error.isMissing else { throw error }
      throw FlowFailure.other("'\(name.onOneLine)' has no log; it has not run yet")
    }
    try StandardOutput().write(contents)
  }

  private func write(_ text: String) throws {
    try StandardOutput().write(Array((text.hasSuffix("\n") ? text : text + "\n").utf8))
  }
}
