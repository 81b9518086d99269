import CommandLineOperations
import CompositeOperations

/// `DevApp tour`
struct TourCommand {
  static let usage = """
    usage: DevApp tour [--trace FILE] [--timeline FILE]

    Shows what operations can do, with the code.

    \(TraceOptions.usage)
    """

  private var options = TraceOptions()

  init(_ arguments: ArraySlice<RawPath>) throws(UsageError) {
    var rest = arguments
    while let argument = rest.popFirst() {
      if try options.take(argument, from: &rest, for: "tour") { continue }
      throw UsageError("tour: unexpected argument \(argument); expected --trace or --timeline")
    }
  }

  /// - Returns: The exit status.
  func run() async throws -> Int32 {
    let observation = try ProgramObservation(options)
    for (number, stop) in TourStop.all.enumerated() {
      let printer = Printer()
      let run = SimpleOperation.withContext { context in
        try await stop.body(printer)
        for line in printer.lines { context.log("\(line)") }
      }
      _ = try await run.named(stop.title).run(in: observation.environment).get()
      let page =
        ["\(number + 1). \(stop.title)", ""]
        + stop.code.split(separator: "\n", omittingEmptySubsequences: false).map { "    \($0)" }
        + [""] + printer.lines.map { "  → \($0)" } + ["", ""]
      try StandardOutput().write(Array(page.joined(separator: "\n").utf8))
    }
    try observation.end()
    return ExitStatus.success
  }
}
