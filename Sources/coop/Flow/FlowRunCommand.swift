import CommandLineOperations
import CompositeOperations
import DurableOperations
import FlowFiles
import Foundation

/// `coop flow run FILE`
struct FlowRunCommand {
  private let arguments: FlowArguments

  init(_ arguments: FlowArguments) { self.arguments = arguments }

  /// - Returns: The exit status.
  func run() async throws -> Int32 {
    var file = try FlowFile.read(
      contentsOf: arguments.file, setting: arguments.values,
      environment: ProcessInfo.processInfo.environment)
    if let output = arguments.output { file.output = output }
    let runner = try FlowFileRunner(file, journal: arguments.journal, arguments.run)
    if arguments.isDryRun {
      let lines = try await runner.plannedSteps()
      try StandardOutput().write(Array((lines.joined(separator: "\n") + "\n").utf8))
      return ExitStatus.success
    }
    return try await runner.whileLocked(
      report: { StandardError().writeLine("coop flow: \($0)") },
      { try await run(runner, file.output) })
  }

  private func run(_ runner: FlowFileRunner, _ output: FlowOutputMode) async throws -> Int32 {
    let standardError = StandardError()
    // A progress display would erase the output of the commands.
    let showsProgress = standardError.isTerminal && !arguments.isJSON && output == .quiet
    let observation = try ProgramObservation(
      arguments.options, progressOn: showsProgress ? standardError : nil)
    let printer = FlowPrinter(
      style: arguments.isJSON ? .json : showsProgress ? .silent : .lines,
      pauseProgress: observation.progressPause)
    var interruptedStatus = ExitStatus.failure
    let state = try await runner.run(
      on: arguments.address.map { address in { try workers(at: address) } },
      onEvent: printer.print
    ) { operation, send in
      let run = try await ProgramRun(
        of: operation, observedBy: observation, awaitsEnd: true, passingOn: send)
      interruptedStatus = run.interruptedStatus
      return FlowPerformance(
        outcome: run.outcome, duration: run.duration, wasInterrupted: run.wasInterrupted)
    }
    try observation.end()
    return switch state {
    case .succeeded: ExitStatus.success
    case .failed, .cancelled: ExitStatus.failure
    case .interrupted: interruptedStatus
    }
  }

  /// The store whose workers run the commands.
  private func workers(at address: String) throws -> RunStore {
    do {
      return try StoreOptions.store(
        at: address, queue: arguments.queue ?? StoreOptions.defaultQueue)
    } catch let error as RunStoreError where error.reason == .invalidAddress {
      throw MissingPostgresError()
    }
  }
}

/// The error of `--on` in a program that has no client for PostgreSQL.
private struct MissingPostgresError: Error, CustomStringConvertible {
  var description: String {
    "--on: this program was built without PostgreSQL; install libpq-dev, run `swift package "
      + "purge-cache`, and build it again"
  }
}
