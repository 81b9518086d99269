import CompositeOperations
import CompositeOperationsFoundation

/// Runs a command and prints what it writes.
struct PrintCommand: ComposableOperation {
  let command: NamedCommand
  let isGrouped: Bool
  let printer: LinePrinter

  var operationName: String { command.name }

  func perform(in context: OperationContext) async throws {
    let process = ProcessOperation(command.program, arguments: command.arguments)
    do {
      if isGrouped {
        try await performGrouped(process, in: context)
      } else {
        try await performLineByLine(process, in: context)
      }
    } catch let error as ProcessExitError {
      // What it wrote stands above.
      throw CommandError(status: error.result.status)
    }
  }

  private func performLineByLine(
    _ process: ProcessOperation, in context: OperationContext
  ) async throws {
    let name = command.name
    let lines =
      process
      .sendingOutput(to: .kept(first: 0)).sendingErrorOutput(to: .kept(last: 0))
      .onOutputLine { line in try await printer.write("[\(name)] \(line)") }
      .onErrorLine { line in await printer.writeError("[\(name)] \(line)") }
    _ = try await context.run(lines)
  }

  private func performGrouped(
    _ process: ProcessOperation, in context: OperationContext
  ) async throws {
    let result = try await context.run(process.mergingErrorOutput().accepting { _ in true })
    try await printer.write(group: result.output, of: command.name)
    if result.status != .exited(0) { throw CommandError(status: result.status) }
  }
}

/// A command that did not end well.
struct CommandError: Error, CustomStringConvertible {
  let status: ProcessStatus

  var description: String { "\(status)" }
}
