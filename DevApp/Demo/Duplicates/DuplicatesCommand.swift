import CompositeOperations

/// `DevApp duplicates [--json] [--empty] PATH…`
struct DuplicatesCommand {
  static let usage = """
    usage: DevApp duplicates [--json] [--empty] [--trace FILE] [--timeline FILE] PATH…

    Finds files with the same contents in the folders and files named PATH.

      --json            prints one JSON object on standard output
      --empty           includes empty files, as one group
    \(FlowOptions.usage)
      --                ends the options; every argument after it is a PATH

    Every PATH must exist. Hard links to a file count as one file. Symbolic links are not followed, except those named as
    a PATH. Exit status: 0 result, 1 error, 64 invalid arguments, 130 interrupted by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP.
    """

  private var options = FlowOptions()
  private var isJSON = false
  private var includesEmpty = false
  private var paths: [RawPath] = []

  init(_ arguments: ArraySlice<RawPath>) throws(UsageError) {
    var takesOptions = true
    var rest = arguments
    while let argument = rest.popFirst() {
      if takesOptions, try options.take(argument, from: &rest, for: "duplicates") { continue }
      switch argument.utf8 {
      case "--" where takesOptions: takesOptions = false
      case "--json" where takesOptions: isJSON = true
      case "--empty" where takesOptions: includesEmpty = true
      case let text? where takesOptions && text.hasPrefix("-"):
        throw UsageError(
          "duplicates: unknown option \(argument); expected --json, --empty, --trace, --timeline or a PATH"
        )
      case "":
        throw UsageError("duplicates: an empty PATH; expected a file or a folder to search")
      default: paths.append(argument)
      }
    }
    if paths.isEmpty {
      throw UsageError("duplicates: no PATH; expected a file or a folder to search")
    }
  }

  /// - Returns: The exit status.
  func run() async throws -> Int32 {
    let standardError = StandardError()
    let observation = try FlowObservation(options, progressOn: standardError)
    let find = FindDuplicates(in: paths, includesEmpty: includesEmpty)
    let flow = try await PerformedFlow(
      of: SequentialOperation(find).named("duplicates"), seenBy: observation)
    let status = show(flow, standardError)
    try observation.end()
    return status
  }

  private func show(_ flow: PerformedFlow<DuplicateReport>, _ standardError: StandardError) -> Int32
  {
    switch flow.outcome {
    case .result(let report):
      return show(report, after: flow.duration, standardError)
    case .error(let error):
      let cause = (error as? SequentialOperationError)?.cause ?? error
      standardError.writeLine("DevApp duplicates: \(cause)")
      return ExitCode.failure
    case .cancelled:
      standardError.writeLine("DevApp duplicates: interrupted")
      return flow.interruptedStatus
    }
  }

  private func show(
    _ report: DuplicateReport, after duration: Duration, _ standardError: StandardError
  ) -> Int32 {
    do {
      if isJSON {
        try StandardOutput().write(try report.json(after: duration))
      } else {
        try StandardOutput().write(Array(report.text.utf8))
        for line in report.problemLines { standardError.writeLine(line) }
        standardError.writeLine(report.summary(after: duration))
      }
      return ExitCode.success
    } catch {
      standardError.writeLine("DevApp duplicates: the report cannot be written: \(error)")
      return ExitCode.failure
    }
  }
}
