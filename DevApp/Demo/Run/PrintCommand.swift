import CompositeOperations
import CompositeOperationsFoundation

/// An operation that runs a command and prints its output.
struct PrintCommand: ComposableOperation {
  let command: NamedCommand
  let isGrouped: Bool
  let printer: LinePrinter
  let running: RunningCommands

  var operationName: String { command.name }

  func perform(in context: OperationContext) async throws {
    let process = ProcessOperation(command.program, arguments: command.arguments)
      .accepting { _ in true }.onLaunch(running.add)
      // The printer reports output that is cut off.
      .draining(for: .milliseconds(100))
    // Performed directly and not run as a child, so that its result is known even after a
    // cancellation.
    let result = try await (isGrouped ? inOnePiece(process) : lineByLine(process))
      .perform(in: context)
    if isGrouped { try await printer.write(group: result.output, of: command.name) }
    // The output of a terminated command is expected to be incomplete.
    if !Task.isCancelled { await printer.writeCuts(of: result, of: command.name) }
    if result.status != .exited(0) { throw CommandError(status: result.status) }
  }

  private func inOnePiece(_ process: ProcessOperation) -> ProcessOperation {
    // The printer reports how much more there was.
    process.sendingOutput(to: .kept(first: 16 << 20)).mergingErrorOutput()
  }

  private func lineByLine(_ process: ProcessOperation) -> ProcessOperation {
    let name = command.name
    return
      process
      .sendingOutput(to: .kept(first: 0)).sendingErrorOutput(to: .kept(last: 0))
      .onOutputLine { line in try await printer.write("[\(name)] \(line)") }
      .onErrorLine { line in await printer.writeError("[\(name)] \(line)") }
  }
}

/// The error of a command that failed.
struct CommandError: Error, CustomStringConvertible {
  let status: ProcessStatus

  var description: String { "\(status)" }
}
