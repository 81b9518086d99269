import CompositeOperations
import CompositeOperationsFoundation
import Foundation
import SystemSupport

/// Runs commands on the workers of a store.
///
/// The commands of a killed process continue. The next process that runs the same commands uses
/// their results, in the order in which they were given to the workers.
final class FlowRemoteRunner: FlowRunner {
  private struct State: Sendable {
    /// The commands of an earlier process that can be continued, in their order, by unit.
    var continued: [ExactText: [FlowSentCommand]]
    /// The numbers of the commands that have ended, by unit.
    var ended: [ExactText: [Int]] = [:]
  }

  private let commands: FlowSentCommands
  private let checker: FlowChecker
  private let state: Lock<State>

  /// - Parameter continued: The commands of an earlier process that can be continued.
  init(
    _ commands: FlowSentCommands, _ checker: FlowChecker, continuing continued: [FlowSentCommand]
  ) {
    self.commands = commands
    self.checker = checker
    state = Lock(State(continued: Dictionary(grouping: continued) { ExactText($0.unit) }))
  }

  var mostLineBytes: Int { commands.workers.mostLineBytes }

  func run(
    _ launch: FlowLaunch, of unit: FlowUnit,
    after beginOutput: @escaping @Sendable () throws -> Void,
    accepting isSuccess: @escaping @Sendable (ProcessStatus) -> Bool,
    in context: OperationContext
  ) async throws -> FlowCommandResult {
    if unit.step.isInteractive {
      throw FlowFailure.other("it is interactive, and a worker has no terminal")
    }
    var earlier: FlowCommandResult?
    while earlier == nil, let command = nextContinued(unit) {
      earlier = try await earlierResult(of: command, launch, beginOutput)
    }
    let result: FlowCommandResult
    if let earlier {
      result = earlier
    } else {
      result = try await newResult(of: launch, unit, beginOutput)
    }
    if result.isStopped { throw CancellationError() }
    context.log("ran on \(result.host): \(result.status)")
    if isSuccess(result.status) { return result }
    throw FlowFailure.status(result.status)
  }

  /// The worker ends them.
  func endProcesses(of unit: FlowUnit) {}

  func ended(_ unit: FlowUnit) {
    let numbers = state.withLock { $0.ended.removeValue(forKey: ExactText(unit.name)) }
    if let numbers { commands.journal.removeCommandsLater(numbers) }
  }

  func end() async throws {
    let left = state.withLock { state in
      defer { state.continued = [:] }
      return state.continued.values.flatMap(\.self)
    }
    try await commands.stop(left)
    await commands.workers.close()
  }

  // MARK: Commands

  private func nextContinued(_ unit: FlowUnit) -> FlowSentCommand? {
    state.withLock { state in
      let name = ExactText(unit.name)
      guard state.continued[name]?.isEmpty == false else { return nil }
      return state.continued[name]?.removeFirst()
    }
  }

  /// Waits for a command of an earlier process.
  ///
  /// - Returns: Nil if it is another command, or was ended by that process.
  private func earlierResult(
    of command: FlowSentCommand, _ launch: FlowLaunch, _ beginOutput: () throws -> Void
  ) async throws -> FlowCommandResult? {
    do { return try await result(of: command, launch, beginOutput) } catch is FlowCommandExistsError
    {
      try await commands.stop([command])
      return nil
    }
  }

  private func newResult(
    of launch: FlowLaunch, _ unit: FlowUnit, _ beginOutput: () throws -> Void
  ) async throws -> FlowCommandResult {
    let command = try await commands.journal.addCommand(
      of: unit.name, run: checker.run, at: commands.workers.place,
      definition: checker.definitions[unit.step.name] ?? "",
      succeeded: checker.record(of: unit)?.number ?? 0)
    if let result = try await result(of: command, launch, beginOutput) { return result }
    throw FlowFailure.other(
      "run \(commands.id(command)) was cancelled in \(commands.workers.place)")
  }

  /// Runs a command, and appends its output to the log, unless an earlier process has done that.
  ///
  /// - Returns: Nil if it was cancelled in the store.
  private func result(
    of command: FlowSentCommand, _ launch: FlowLaunch, _ beginOutput: () throws -> Void
  ) async throws -> FlowCommandResult? {
    let result = try await unloggedResult(of: command, launch)
    if let result, !command.isLogged {
      try beginOutput()
      try checker.log(of: command.unit).append(result.logText)
      commands.journal.noteLoggedLater(command.number)
    }
    return result
  }

  /// Runs a command. If the task is cancelled, the command is ended, and its end awaited.
  private func unloggedResult(
    of command: FlowSentCommand, _ launch: FlowLaunch
  ) async throws -> FlowCommandResult? {
    let result: FlowCommandResult?
    do { result = try await commands.result(of: command, launch) } catch {
      guard Task.isCancelled else { throw error }
      // In a task of its own, because this one is cancelled.
      let result = await Task { [commands] in
        if await commands.stop(command) { noteEnd(command) }
        return await commands.storedResult(of: command)
      }.value
      guard let result else { throw CancellationError() }
      return result
    }
    noteEnd(command)
    return result
  }

  private func noteEnd(_ command: FlowSentCommand) {
    state.withLock { $0.ended[ExactText(command.unit), default: []].append(command.number) }
  }
}

extension FlowCommandResult {
  /// What the log of the unit shows: the output that was kept, and how much was dropped.
  fileprivate var logText: [UInt8] {
    func note(_ count: Int, _ text: String) -> [UInt8] {
      count > 0 ? Array("[\(text): \(count.grouped) bytes, on \(host)]\n".utf8) : []
    }
    return note(droppedErrorOutput, "earlier error output that was not kept") + Array(errorOutput)
      + note(
        droppedOutput,
        errorOutput.isEmpty && droppedErrorOutput == 0
          ? "earlier output that was not kept" : "output that was not kept") + Array(output)
      + (isOutputHeldOpen == true ? Array("[\(FlowLog.heldOpen), on \(host)]\n".utf8) : [])
  }
}
