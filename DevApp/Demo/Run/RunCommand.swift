import CompositeOperations
import CompositeOperationsFoundation

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

    Exit status: 0 all ended with 0, 1 some did not or an error, 64 wrong arguments, 130 interrupted.
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
    let interruption = try Interruption()
    let printer = LinePrinter()
    let list = ParallelOperation(
      commands.map { PrintCommand(command: $0, isGrouped: isGrouped, printer: printer) },
      width: .limited(to: width), onFailure: keepsGoing ? .runAll : .cancelRemaining)
    let run = list.named("run").start(in: observation.environment)
    interruption.setHandler { run.cancel(because: "interrupted") }
    let outcome = await run.outcome
    withExtendedLifetime(interruption) {}
    let status = show(outcome, StandardError())
    try observation.end()
    return status
  }

  private func show(_ outcome: Outcome<[Void]>, _ standardError: StandardError) -> Int32 {
    switch outcome {
    case .result: return ExitCode.success
    case .error(let error):
      if let error = error as? ParallelOperationError {
        for line in FailureList(error).lines { standardError.writeLine("DevApp run: \(line)") }
      } else {
        standardError.writeLine("DevApp run: \(error)")
      }
      return ExitCode.failure
    case .cancelled:
      standardError.writeLine("DevApp run: interrupted")
      return ExitCode.interrupted
    }
  }
}
