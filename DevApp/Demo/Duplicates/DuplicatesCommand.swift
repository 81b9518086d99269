import CommandLineOperations
import CompositeOperations

/// `DevApp duplicates [--json] [--empty] [--journal FILE] PATH…`
struct DuplicatesCommand {
  static let usage = """
    usage: DevApp duplicates [--json] [--empty] [--journal FILE] [--trace FILE] [--timeline FILE] PATH…

    Finds files with the same contents in the folders and files named PATH.

      --json            prints one JSON object on standard output
      --empty           includes empty files, as one group
      --journal FILE    stores each finished step in the SQLite file FILE, which is created if it is missing. After a
                        crash or a signal, the same command in the same folder continues where the search was; after
                        the end, it searches again. `coop journal FILE list` shows the searches. FILE should
                        not be in a PATH
    \(TraceOptions.usage)
      --                ends the options; every argument after it is a PATH

    Every PATH must exist. Hard links to a file count as one file. Symbolic links are not followed, except those named as
    a PATH. Exit status: 0 result, 1 error, 64 invalid arguments, 130 interrupted by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP.
    """

  private var options = TraceOptions()
  private var isJSON = false
  private var includesEmpty = false
  private var journal: String?
  private var paths: [RawPath] = []

  init(_ arguments: ArraySlice<RawPath>) throws(UsageError) {
    var takesOptions = true
    var rest = arguments
    while let argument = rest.popFirst() {
      if takesOptions, try options.take(argument, from: &rest, for: "duplicates") { continue }
      switch argument.text {
      case "--" where takesOptions: takesOptions = false
      case "--json" where takesOptions: isJSON = true
      case "--empty" where takesOptions: includesEmpty = true
      case "--journal" where takesOptions:
        guard let file = rest.popFirst()?.text, !file.isEmpty else {
          throw UsageError(
            "duplicates: --journal without a FILE; expected the name of an SQLite file to write")
        }
        journal = file
      case let text? where takesOptions && text.hasPrefix("-"):
        throw UsageError(
          "duplicates: unknown option \(argument); expected --json, --empty, --journal, --trace, "
            + "--timeline or a PATH"
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
    let observation = try ProgramObservation(options, progressOn: standardError)
    let find = FindDuplicates(in: paths, includesEmpty: includesEmpty)
    let flow: ProgramRun<DuplicateReport>
    var advice: String?
    if let journal {
      let search = JournaledSearch(
        find, in: paths, includesEmpty: includesEmpty, journal: journal)
      if let note = try await search.prepare() {
        standardError.writeLine("DevApp duplicates: \(note)")
      }
      // Awaits the late outcome, because the process must not end before its run is released.
      flow = try await ProgramRun(of: search.operation, observedBy: observation, awaitsEnd: true)
      await search.close()
      advice = search.advice
    } else {
      flow = try await ProgramRun(
        of: SequentialOperation(find).named("duplicates"), observedBy: observation)
    }
    let status = show(flow, advice, standardError)
    try observation.end()
    return status
  }

  /// - Parameter advice: What to do after an interruption; nil if nothing can be done.
  private func show(
    _ flow: ProgramRun<DuplicateReport>, _ advice: String?, _ standardError: StandardError
  ) -> Int32 {
    switch flow.outcome {
    case .result(let report):
      return show(report, after: flow.duration, standardError)
    case .error(let error):
      let cause = (error as? SequentialOperationError)?.cause ?? error
      standardError.writeLine("DevApp duplicates: \(cause)")
      return ExitStatus.failure
    case .cancelled where !flow.wasInterrupted:
      standardError.writeLine(
        "DevApp duplicates: cancelled in the journal; the same command searches again")
      return ExitStatus.failure
    case .cancelled:
      let next = advice.map { "; \($0)" } ?? ""
      standardError.writeLine("DevApp duplicates: interrupted\(next)")
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
      return ExitStatus.success
    } catch {
      standardError.writeLine("DevApp duplicates: the report cannot be written: \(error)")
      return ExitStatus.failure
    }
  }
}
