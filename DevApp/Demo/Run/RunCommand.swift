import CompositeOperations
import CompositeOperationsFoundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// `DevApp run [--width N] [--keep-going] [--grouped] -- COMMAND… [--- COMMAND…]…`
struct RunCommand {
  static let usage = """
    usage: DevApp run [--width N] [--keep-going] [--grouped] [--trace FILE] [--timeline FILE]
                      -- COMMAND… [--- COMMAND…]…

    Runs commands side by side, each with its arguments and without a shell. What they write comes line by line behind
    the name of the command, as it comes; a list of those that failed is the end.

      --width N         how many run at once; as many as there are processors if it is not there. 1 is one after another
      --keep-going      run all of them; else those that run are ended when one fails, and no other begins
      --grouped         what a command writes comes in one piece when it has ended
    \(FlowOptions.usage)
      --                what follows is a COMMAND, up to the end or to ---

    DevApp run -- swift build --- swift format lint --recursive Sources

    Ctrl-C, SIGTERM and SIGHUP end the commands in order, and a second one of them by force.

    Exit status: 0 all ended with 0, 1 some did not or an error, 64 wrong arguments, 130 interrupted by Ctrl-C, 143 by
    SIGTERM, 129 by SIGHUP.
    """

  private var options = FlowOptions()
  private var width = Processors.count
  private var keepsGoing = false
  private var isGrouped = false
  private let commands: [NamedCommand]

  init(_ arguments: ArraySlice<RawPath>) throws(UsageError) {
    var rest = arguments
    options: while let argument = rest.popFirst() {
      if try options.take(argument, from: &rest, for: "run") { continue }
      switch argument.utf8 {
      case "--": break options
      case "--width": width = try Self.width(rest.popFirst())
      case "--keep-going": keepsGoing = true
      case "--grouped": isGrouped = true
      default:
        throw UsageError(
          "run: unexpected argument \(argument); expected --width, --keep-going, --grouped, --trace, "
            + "--timeline or -- before the first COMMAND")
      }
    }
    commands = try NamedCommand.list(from: rest)
  }

  private static func width(_ argument: RawPath?) throws(UsageError) -> Int {
    guard let text = argument?.utf8, let width = Int(text), width > 0 else {
      let given = argument.map { "the width \($0)" } ?? "--width without a number"
      throw UsageError("run: \(given); expected a number from 1")
    }
    return width
  }

  /// - Returns: The exit status.
  func run() async throws -> Int32 {
    let observation = try FlowObservation(options)
    // Output that nobody reads any more is an error of the command that wrote it, and not the end of this program.
    signal(SIGPIPE, SIG_IGN)
    let printer = LinePrinter()
    let running = RunningCommands()
    let list = ParallelOperation(
      commands.map {
        PrintCommand(command: $0, isGrouped: isGrouped, printer: printer, running: running)
      },
      width: .limited(to: width), onFailure: keepsGoing ? .runAll : .cancelRemaining)
    let flow = try await PerformedFlow(
      of: list.named("run"), seenBy: observation, waitsForEnd: true, force: running.kill)
    let status = show(flow, StandardError())
    try observation.end()
    return status
  }

  private func show(_ flow: PerformedFlow<[Void]>, _ standardError: StandardError) -> Int32 {
    switch flow.outcome {
    case .result: return ExitCode.success
    case .error(let error):
      show(error, "ended because of that", standardError)
      return ExitCode.failure
    case .cancelled:
      // Some may have failed before that.
      if let error = flow.late?.error as? ParallelOperationError, !error.failures.isEmpty {
        show(error, "ended by the signal", standardError)
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
