import CompositeOperations
import CompositeOperationsFoundation
import SystemSupport

/// Runs the commands of a flow: in this process, or on the workers of a store.
protocol FlowRunner: Sendable {
  /// How many bytes `lines-of` reads at most.
  var mostLineBytes: Int { get }

  /// Runs a command, and appends its output to the log of the unit.
  ///
  /// If the task is cancelled, the command is terminated. The call returns or throws after its end.
  ///
  /// - Parameters:
  ///   - beginOutput: Called before the output is appended.
  ///   - isSuccess: Whether a status is a success.
  /// - Throws: An error that a ``FlowFailure`` shows as the status, if it is no success.
  nonisolated(nonsending) func run(
    _ launch: FlowLaunch, of unit: FlowUnit,
    after beginOutput: @escaping @Sendable () throws -> Void,
    accepting isSuccess: @escaping @Sendable (ProcessStatus) -> Bool,
    in context: OperationContext
  ) async throws -> FlowCommandResult

  /// Ends what the commands of an attempt that has not succeeded have left running.
  func endProcesses(of unit: FlowUnit) async throws

  /// Forgets the commands of a unit that has ended.
  func ended(_ unit: FlowUnit)

  /// Ends the commands of an earlier process that no unit has continued.
  func end() async throws
}

/// Runs commands in this process.
struct FlowLocalRunner: FlowRunner {
  /// Returns the log of a unit.
  let log: @Sendable (String) -> FlowLog
  let processes: FlowProcesses

  var mostLineBytes: Int { 8 << 20 }

  func run(
    _ launch: FlowLaunch, of unit: FlowUnit,
    after beginOutput: @escaping @Sendable () throws -> Void,
    accepting isSuccess: @escaping @Sendable (ProcessStatus) -> Bool,
    in context: OperationContext
  ) async throws -> FlowCommandResult {
    try beginOutput()
    let log = log(unit.name)
    let terminal = try unit.step.isInteractive ? ControllingTerminal.forStep() : nil
    defer { terminal?.restore() }
    // Other commands cannot open the terminal, so that they fail instead of being stopped.
    let process = processes.marking(launch.process, as: unit).accepting(isSuccess)
      .ending(within: unit.step.stopGrace)
      .running(in: unit.step.isInteractive ? .ownGroup : .newSession)
      .onLaunch { [processes] in processes.began($0, unit) }
    defer { processes.ended(unit) }
    let result = try await withTaskCancellationHandler {
      // Performed as a part of this operation, so that the result is known after a cancellation.
      if unit.step.isInteractive {
        try await process.reading(.file(ControllingTerminal.path))
          .sendingOutput(to: .appended(to: ControllingTerminal.path)).mergingErrorOutput()
          .perform(in: context)
      } else {
        try await log.perform(process, keeping: launch.outputLimit, in: context)
      }
    } onCancel: {
      processes.beginEnd(of: unit)
    }
    // Its exit status does not show whether it has done its work.
    if result.wasSignalled { throw CancellationError() }
    if Task.isCancelled, !processes.cancelEnd(of: unit) { throw CancellationError() }
    return FlowCommandResult(result)
  }

  func endProcesses(of unit: FlowUnit) async throws { try await processes.end(unit) }

  func ended(_ unit: FlowUnit) { processes.unitEnded(unit) }

  func end() async throws {}
}

extension ControllingTerminal {
  /// The terminal for an interactive step.
  fileprivate static func forStep() throws -> ControllingTerminal {
    guard let terminal = ControllingTerminal() else {
      throw FlowFailure.other("it is interactive, and the flow has no terminal")
    }
    guard terminal.isInForeground else {
      throw FlowFailure.other(
        "it is interactive, and the flow runs in the background of its terminal")
    }
    return terminal
  }
}
