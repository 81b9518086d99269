import CommandLineOperations
import CompositeOperations
import DurableOperations
import FlowFiles

/// `coop flow run FILE`
struct FlowRunCommand {
  private let arguments: FlowArguments

  init(_ arguments: FlowArguments) { self.arguments = arguments }

  /// - Returns: The exit status.
  func run() async throws -> Int32 {
    let file = try FlowFile.read(contentsOf: arguments.file, setting: arguments.values)
    let options = FlowRunOptions(
      selection, isFresh: arguments.isFresh, keepsGoing: arguments.keepsGoing)
    let runner = try FlowFileRunner(file, journal: arguments.journal, options)
    if arguments.isDryRun {
      var lines = try await runner.plannedSteps()
      if lines.isEmpty { lines = ["nothing would run"] }
      try StandardOutput().write(Array((lines.joined(separator: "\n") + "\n").utf8))
      return ExitStatus.success
    }
    return try await runner.whileLocked { try await run(runner) }
  }

  private var selection: FlowRunOptions.Selection {
    if let step = arguments.from { return .from(step) }
    return arguments.only.map { .only($0) } ?? .all
  }

  private func run(_ runner: FlowFileRunner) async throws -> Int32 {
    let standardError = StandardError()
    let observation = try ProgramObservation(
      arguments.options,
      progressOn: standardError.isTerminal && !arguments.isJSON ? standardError : nil)
    let printer = FlowPrinter(
      style: arguments.isJSON ? .json : standardError.isTerminal ? .silent : .lines,
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
