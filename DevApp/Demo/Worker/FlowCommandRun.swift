import CompositeOperations
import CompositeOperationsFoundation
import DurableOperations
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

  var operationName: String { launch.program.split(separator: "/").last.map(String.init) ?? "" }

  func perform(in context: OperationContext) async throws -> FlowCommandResult {
    guard let store = Self.store else {
      throw FlowFailure.other("a command can only be run by DevApp worker ADDRESS --commands")
    }
    let host = ProcessInfo.processInfo.hostName
    try checkFiles(on: host)
    let stop = Promise<Void>()
    return try await withThrowingTaskGroup(of: ProcessResult?.self) { group in
      group.addTask {
        do {
          return try await LaunchedCommand(process, id: id, in: store).result(in: context)
        } catch let error as ProcessLaunchError {
          throw FlowFailure.other("on \(host): \(error)")
        }
      }
      group.addTask {
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

  private var process: ProcessOperation {
    let process = launch.process.accepting { _ in true }
      .settingVariables([FlowProcesses.variable: id.text])
    guard let limit = launch.outputLimit else {
      return process.sendingOutput(to: .kept(last: Self.mostOutput)).mergingErrorOutput()
    }
    return process.sendingOutput(to: .kept(first: limit))
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

/// The process of a command, which the durable run identifies for the next claim.
private struct LaunchedCommand {
  /// How many processes may end with their worker, as the engine limits claims without progress.
  private static let mostProcesses = 10

  private let process: ProcessOperation
  private let id: RunID
  private let store: RunStore
  /// Set when nothing of an earlier claim is running any more.
  private let mayBegin = Promise<Void>()
  /// The process; nil if it has not begun.
  private let launched = Promise<Int32?>()

  init(_ process: ProcessOperation, id: RunID, in store: RunStore) {
    self.id = id
    self.store = store
    self.process = process.onLaunch { [launched] in launched.set($0.processIdentifier) }
  }

  /// Terminates what earlier claims have left running, and runs the command.
  ///
  /// - Throws: A ``StoppedCommandError`` if the flow has asked for its end before.
  func result(in context: OperationContext) async throws -> ProcessResult {
    async let result = perform(in: context)
    do {
      var earlier: [FlowCommandProcess] = []
      while true {
        let isNew = Promise<Void>()
        let record = SimpleOperation { [earlier] in
          isNew.set(())
          return try await begin(after: earlier, in: context)
        }.journaled(as: "process \(earlier.count + 1)")
        let process = try await record.perform(in: context)
        if isNew.current != nil { break }
        earlier.append(process)
      }
    } catch {
      // It says why the process has not begun, and it ends when this task is cancelled.
      if !(error is UnlaunchedCommandError), !Task.isCancelled { throw error }
    }
    return try await result
  }

  private func perform(in context: OperationContext) async throws -> ProcessResult {
    defer { launched.set(nil) }
    try await mayBegin.wait()
    return try await process.perform(in: context)
  }

  /// Begins the process after the end of earlier ones.
  ///
  /// - Returns: What identifies it for the next claim.
  private func begin(
    after earlier: [FlowCommandProcess], in context: OperationContext
  ) async throws -> FlowCommandProcess {
    if context.fencingToken ?? 1 > 1 || !earlier.isEmpty {
      try await FlowOrphans(earlier, mark: "\(FlowProcesses.variable)=\(id.text)").terminate()
    }
    if earlier.count >= Self.mostProcesses {
      throw FlowFailure.other("the worker has ended \(earlier.count) times while it was running")
    }
    if try await store.isAskedToStop(id) { throw StoppedCommandError() }
    mayBegin.set(())
    guard let number = try await launched.wait() else { throw UnlaunchedCommandError() }
    let began = ProcessTable.listed(number)?.began ?? 0
    return FlowCommandProcess(
      unit: id.text, process: number, began: began, boot: ProcessTable.boot)
  }
}

/// The flow has asked for the end of a command that has not begun.
private struct StoppedCommandError: Error {}

/// The process of a command has not begun.
private struct UnlaunchedCommandError: Error {}
