import CompositeOperations
import CompositeOperationsFoundation

/// Runs the commands of a flow: in this process, or on the workers of a store.
protocol FlowRunner: Sendable {
  /// How many bytes `lines-of` reads at most.
  var mostLineBytes: Int { get }

  /// Runs a command, and appends its output to the log of the unit.
  ///
  /// If the task is cancelled, the command is terminated. The call returns or throws after its end.
  ///
  /// - Parameter isSuccess: Whether a status is a success.
  /// - Throws: An error that a ``FlowFailure`` shows as the status, if it is no success.
  nonisolated(nonsending) func run(
    _ launch: FlowLaunch, of unit: FlowUnit,
    accepting isSuccess: @escaping @Sendable (ProcessStatus) -> Bool,
    in context: OperationContext
  ) async throws -> FlowCommandResult

  /// Forgets the commands of a unit that has ended.
  func ended(_ unit: FlowUnit)

  /// Ends the commands of an earlier process that no unit has continued.
  func end() async throws
}

/// Runs commands in this process.
struct FlowLocalRunner: FlowRunner {
  let folder: FlowFolder
  let processes: FlowProcesses

  var mostLineBytes: Int { 8 << 20 }

  func run(
    _ launch: FlowLaunch, of unit: FlowUnit,
    accepting isSuccess: @escaping @Sendable (ProcessStatus) -> Bool,
    in context: OperationContext
  ) async throws -> FlowCommandResult {
    let log = FlowLog(folder.log(of: unit.name))
    let process = launch.process.accepting(isSuccess)
      .settingVariables([FlowProcesses.variable: processes.mark])
      .onLaunch { [processes] in processes.began($0, unit) }
    defer { processes.ended(unit) }
    guard let limit = launch.outputLimit else {
      let appended = ProcessOutput.Destination.appended(to: log.path)
      // Performed as a part of this operation, so that the result is known after a cancellation.
      return FlowCommandResult(
        try await process.sendingOutput(to: appended).mergingErrorOutput().perform(in: context))
    }
    do {
      let result = try await process.sendingOutput(to: .kept(first: limit))
        .sendingErrorOutput(to: .appended(to: log.path)).perform(in: context)
      try log.append(result.output.bytes)
      return FlowCommandResult(result)
    } catch let error as ProcessExitError {
      try log.append(error.result.output.bytes)
      throw error
    }
  }

  func ended(_ unit: FlowUnit) {}

  func end() async throws {}
}
