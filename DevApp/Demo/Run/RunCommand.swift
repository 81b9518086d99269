import CommandLineOperations
import CompositeOperations
import CompositeOperationsFoundation

/// `DevApp run [--width N] [--keep-going] [--grouped] [--timeout SECONDS] -- COMMAND… [--- COMMAND…]…`
struct RunCommand {
  static let usage = """
    usage: DevApp run [--width N] [--keep-going] [--grouped] [--timeout SECONDS] [--trace FILE] [--timeline FILE]
                      -- COMMAND… [--- COMMAND…]…

    Runs commands in parallel, each with its arguments and without a shell. Prints their output line by line, each line
    after the name of its command, and finally a list of the commands that failed.

      --width N         runs at most N commands at once (default: the number of processors); 1 runs them in sequence
      --keep-going      runs all commands; without it, the first failure terminates the running ones, and no other starts
      --grouped         prints the output of a command in one piece when it has ended
      --timeout SECONDS terminates a command that has run for this time, which is then a failed one
    \(TraceOptions.usage)
      --                precedes the first COMMAND; each COMMAND ends at --- or with the last argument

    DevApp run -- swift build --- swift format lint --recursive Sources

    Ctrl-C, SIGTERM and SIGHUP terminate the commands gracefully; a second signal kills them.

    Exit status: 0 all commands exited with 0, 1 some did not or an error, 64 invalid arguments, 130 interrupted by
    Ctrl-C, 143 by SIGTERM, 129 by SIGHUP.
    """

  private var options = TraceOptions()
  private var width = ThisProcess.processorCount
  private var keepsGoing = false
  private var isGrouped = false
  private var timeout: Duration?
  private let commands: [NamedCommand]

  init(_ arguments: ArraySlice<RawPath>) throws(UsageError) {
    var rest = arguments
    options: while let argument = rest.popFirst() {
      if try options.take(argument, from: &rest, for: "run") { continue }
      switch argument.text {
      case "--": break options
      case "--width": width = try Self.width(rest.popFirst())
      case "--keep-going": keepsGoing = true
      case "--grouped": isGrouped = true
      case "--timeout": timeout = try Self.timeout(rest.popFirst())
      default:
        throw UsageError(
          "run: unexpected argument \(argument); expected --width, --keep-going, --grouped, --timeout, "
            + "--trace, --timeline or -- before the first COMMAND")
      }
    }
    commands = try NamedCommand.list(from: rest)
  }

  private static func width(_ argument: RawPath?) throws(UsageError) -> Int {
    guard let text = argument?.text, let width = Int(text), width > 0 else {
      let given = argument.map { "invalid width \($0)" } ?? "--width without a number"
      throw UsageError("run: \(given); expected a number >= 1")
    }
    return width
  }

  private static func timeout(_ argument: RawPath?) throws(UsageError) -> Duration {
    guard let text = argument?.text, let seconds = Double(text), (0.001...1e9).contains(seconds)
    else {
      let given = argument.map { "invalid timeout \($0)" } ?? "--timeout without a number"
      throw UsageError("run: \(given); expected seconds, such as 90 or 0.5, at least 0.001")
    }
    return .seconds(seconds)
  }

  /// - Returns: The exit status.
  func run() async throws -> Int32 {
    let observation = try ProgramObservation(options)
    // An output without a reader is an error of the command that writes to it, and does not end
    // this program.
    ThisProcess.ignoreBrokenPipes()
    let printer = LinePrinter()
    let running = RunningCommands()
    let list = ParallelOperation(
      commands.map { command in
        let print = PrintCommand(
          command: command, isGrouped: isGrouped, printer: printer, running: running)
        return timeout.map { AnyOperation(print.timingOut(after: $0)) } ?? AnyOperation(print)
      },
      width: .limited(to: width), onFailure: keepsGoing ? .runAll : .cancelRemaining)
    let flow = try await ProgramRun(
      of: list.named("run"), observedBy: observation, awaitsEnd: true, onSecondSignal: running.kill)
    let status = show(flow, StandardError())
    try observation.end()
    return status
  }

  private func show(_ flow: ProgramRun<[Void]>, _ standardError: StandardError) -> Int32 {
    switch flow.outcome {
    case .result: return ExitStatus.success
    case .error(let error):
      show(error, "terminated as a result", standardError)
      return ExitStatus.failure
    case .cancelled:
      // Commands may have failed before the cancellation.
      if let error = flow.lateOutcome?.error as? ParallelOperationError, !error.failures.isEmpty {
        show(error, "terminated by the signal", standardError)
      }
      standardError.writeLine("DevApp run: interrupted")
      return flow.interruptedStatus
    }
  }

  private func show(
    _ error: any Error, _ fateOfOthers: String, _ standardError: StandardError
  ) {
    let list = (error as? ParallelOperationError).map { FailureList($0, fateOfOthers) }
    let lines = list?.lines ?? ["\(error)"]
    for line in lines { standardError.writeLine("DevApp run: \(line)") }
  }
}
