import CompositeOperations
import CompositeOperationsFoundation
import DurableOperations
import FlowFiles
import Foundation
import SystemSupport

/// The run of a command of a flow in the store of the workers.
///
/// A status other than 0 is a result, and no error of the run.
struct FlowCommandRun: DurableSequence {
  static let flowName = "flow-command"

  let launch: FlowLaunch
  let id: RunID

  mutating func nextOperation(
    after previous: FinishedStep?
  ) throws -> (any ComposableOperation)? {
    guard let previous else { return RunFlowCommand(launch: launch, id: id) }
    // The command has ended before the run does.
    if previous.result(of: RunFlowCommand.self)?.isStopped == true { throw CancellationError() }
    return nil
  }
}

/// Runs the command of a flow on the machine of a worker.
struct RunFlowCommand: ComposableOperation {
  /// The store of the worker, which runs this task.
  @TaskLocal static var store: RunStore?
  /// How many bytes of the output are kept if it is one output: the last ones.
  static let mostOutput = 256 << 10
  /// How many bytes of the standard output are kept for `lines-of`: the first ones. In base64, with
  /// those of standard error, they fit into a value of 1 MiB.
  static let mostLineBytes = 512 << 10
  private static let mostErrorOutput = 64 << 10

  let launch: FlowLaunch
  let id: RunID

  var operationName: String {
    launch.program.split(separator: "/").last.map(String.init) ?? ""
  }

  func perform(in context: OperationContext) async throws -> FlowCommandResult {
    guard let store = Self.store else {
      throw FlowFailure.other("a command can only be run by coop worker ADDRESS --commands")
    }
    let host = Self.host(store)
    let command = LaunchedCommand(process, id: id, in: store) { try checkFiles(on: host) }
    let stop = Promise<Void>()
    return try await withThrowingTaskGroup(of: ProcessResult?.self) { group in
      group.addTask {
        do {
          return try await command.result(in: context)
        } catch let error as ProcessLaunchError {
          throw FlowFailure.other("on \(host): \(error)")
        }
      }
      group.addTask {
        // A cancellation must not interrupt the end of what an earlier claim has left.
        try await command.waitForBeginning()
        try await store.waitForStop(of: id)
        stop.set(())
        return nil
      }
      defer { group.cancelAll() }
      do {
        var result = try await group.next() ?? nil
        if result == nil {
          group.cancelAll()
          result = try await group.next() ?? nil
        }
        // A command that the end of the worker has terminated runs again.
        try Task.checkCancellation()
        guard let result else { return FlowCommandResult(stoppedOn: host) }
        return FlowCommandResult(result, on: host, isStopped: stop.current != nil)
      } catch let error {
        try Task.checkCancellation()
        guard error is StoppedCommandError || stop.current != nil else { throw error }
        return FlowCommandResult(stoppedOn: host)
      }
    }
  }

  /// The name of this machine, as the store lists it.
  private static func host(_ store: RunStore) -> String {
    store.backend.worker.map { String($0.prefix { $0 != "/" }) } ?? ProcessInfo.processInfo.hostName
  }

  private var process: ProcessOperation {
    let process = launch.process.accepting { _ in true }
      .settingVariables([FlowProcesses.variable: id.text])
    guard let limit = launch.outputLimit else {
      // A step that has succeeded may leave processes in the background.
      return process.sendingOutput(to: .kept(last: Self.mostOutput)).mergingErrorOutput()
        .draining(for: .milliseconds(100))
    }
    return process.sendingOutput(to: .kept(first: limit)).draining(for: .seconds(5))
      .sendingErrorOutput(to: .kept(last: Self.mostErrorOutput))
  }

  /// - Throws: An error with the name of the machine, if it lacks the folder or the file.
  private func checkFiles(on host: String) throws {
    guard (try? FileStatus(ofFile: launch.directory))?.kind == .folder else {
      throw FlowFailure.other(
        "folder: \(launch.directory.onOneLine) does not exist on \(host); with --on, every machine "
          + "needs the same folders")
    }
    if let file = launch.standardInput, !FileManager.default.isReadableFile(atPath: file) {
      throw FlowFailure.other("stdin: \(file.onOneLine) cannot be read on \(host)")
    }
  }
}
