import CommandLineOperations
import CompositeOperations
import CompositeOperationsFoundation
import DurableOperations
import FlowFiles
import SystemSupport

/// `coop flow run FILE`
struct FlowRunCommand {
  private let arguments: FlowArguments

  init(_ arguments: FlowArguments) { self.arguments = arguments }

  /// - Returns: The exit status.
  func run() async throws -> Int32 {
    var file = try FlowFile(
      contentsOf: arguments.file, setting: arguments.values, running: arguments.run.selection)
    if let output = arguments.output { file.output = output }
    if arguments.isDryRun {
      try await printDryRun(FlowState(of: file, in: arguments.state))
      return ExitStatus.success
    }
    let standardError = StandardError()
    // A progress display would erase the output of the commands.
    let showsProgress =
      standardError.isTerminal && !arguments.isJSON && file.output == .quiet
    let observation = try ProgramObservation(
      arguments.options, progressOn: showsProgress ? standardError : nil)
    let printer = FlowPrinter(
      style: arguments.isJSON ? .json : showsProgress ? .silent : .lines,
      pauseProgress: observation.progressPause)
    var run = FlowRun(
      of: file, with: arguments.run, stateIn: arguments.state, onEvent: printer.print)
    run.isSole = true
    if let address = arguments.address {
      run.workers = { [queue = arguments.queue] in
        try await FlowCommandStore(Self.workers(at: address, queue: queue))
      }
    }
    let program = try await ProgramRun(
      of: run, observedBy: observation, awaitsEnd: true,
      passingOn: { [run] in run.send(ProcessSignal(rawValue: $0)) })
    try observation.end()
    switch program.lateOutcome ?? program.outcome {
    case .error(let error) where !(error is FlowRunError): throw error
    case _ where program.wasInterrupted: return program.interruptedStatus
    case .result: return ExitStatus.success
    case .error, .cancelled: return ExitStatus.failure
    }
  }

  private func printDryRun(_ state: FlowState) async throws {
    let run = try await state.dryRun(arguments.run)
    var lines = run.steps.map { "\($0.name): \($0.reason)" }
    if lines.isEmpty {
      lines = ["nothing would run"]
    } else if run.currentCount > 0 {
      lines.append(
        "\(run.currentCount.counted("step")) \(run.currentCount == 1 ? "is" : "are") current")
    }
    try StandardOutput().write(Array((lines.joined(separator: "\n") + "\n").utf8))
  }

  /// The store whose workers run the commands.
  private static func workers(at address: String, queue: String?) throws -> RunStore {
    do {
      return try StoreOptions.store(at: address, queue: queue ?? StoreOptions.defaultQueue)
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
