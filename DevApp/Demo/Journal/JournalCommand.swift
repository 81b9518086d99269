import CompositeOperations
import DurableOperations
import OperationTracing
import SystemSupport

/// `DevApp journal STORE list|show|cancel|retry|send|forget|check …`
struct JournalCommand {
  static let usage = """
    usage: DevApp journal STORE list [--state STATE] [--flow FLOW] [--json]
           DevApp journal STORE show RUN [--json] [--live] [--timeline FILE] [--trace FILE]
           DevApp journal STORE cancel RUN [--because TEXT]
           DevApp journal STORE retry RUN [--from N]
           DevApp journal STORE send RUN EVENT JSON
           DevApp journal STORE forget RUN
           DevApp journal STORE forget --older-than AGE
           DevApp journal STORE check

    Shows and controls durable runs, which survive the end of their process. STORE is the SQLite file that an existing
    journal is in; the programs that run its runs may use it at the same time.

    list      lists the runs, the newest first
    show      shows a run: its finished steps, and what the step in progress has stored
    cancel    cancels a run and its child flows; a running one ends within a second
    retry     resumes a run that is stuck, parked or has ended, from one of its steps
    send      sends an event to a run; the first event of a name counts
    forget    deletes a run that has ended, or all that ended before some time
    check     checks the file and its values; stuck runs count as problems

    list
      --state STATE     lists only runs in this state: ready, running, parked, stuck, result, error or cancelled; may be
                        repeated
      --flow FLOW       lists only runs of this flow

    show
      --live            shows the run once a second until it ends; Ctrl-C ends the view, not the run
    \(FlowOptions.usage)

    cancel
      --because TEXT    the reason, which stays with the run

    retry
      --from N          the first step to repeat (default: the last step if it failed, otherwise the step after it)

    forget
      --older-than AGE  a number and a unit: s, m, h, d or w, such as 7d

    list and show
      --json            prints each run as a JSON object on a line, with times in UTC
      --                ends the options

    Exit status: 0 success, 1 error or problem, 64 invalid arguments, 130 interrupted by Ctrl-C, 143 by SIGTERM,
    129 by SIGHUP.
    """

  private let arguments: JournalArguments
  private let store: RunStore
  private let output = StandardOutput()
  private let standardError = StandardError()

  init(_ arguments: ArraySlice<RawPath>) throws(UsageError) {
    let arguments = try JournalArguments(arguments)
    self.arguments = arguments
    store = .sqlite(arguments.file)
  }

  /// - Returns: The exit status.
  func run() async -> Int32 {
    do {
      try checkFile()
      let status = try await perform()
      await store.close()
      return status
    } catch {
      await store.close()
      report("\(error)")
      return ExitCode.failure
    }
  }

  private func report(_ text: String) {
    standardError.writeLine("DevApp journal: \(text.onOneLine)")
  }

  /// Checks that the store exists, because a store creates its file.
  private func checkFile() throws {
    let expected = "expected the SQLite file of a journal"
    let file = RawPath(arguments.file)
    let status: FileStatus
    do { status = try FileStatus(ofFile: arguments.file) } catch {
      throw JournalError("\(file): \(error); \(expected)")
    }
    if status.kind != .file { throw JournalError("\(file) is not a file; \(expected)") }
    if status.size == 0 { throw JournalError("\(file) is empty; \(expected)") }
  }

  private func perform() async throws -> Int32 {
    let id = arguments.run
    switch arguments.action {
    case .list: try await list()
    case .show: return try await show()
    case .cancel: try await cancel(try await existing())
    case .retry:
      _ = try await existing()
      try await store.retry(id, from: arguments.step)
      let run = try await existing()
      report("run \(id) is ready; a program that knows the flow \(run.flow) continues it")
    case .send: try await send()
    case .forget: try await forget()
    case .check: return try await check()
    }
    return ExitCode.success
  }

  /// The run that the arguments name.
  private func existing() async throws -> RunSummary {
    if let run = try await store.summary(of: arguments.run) { return run }
    throw missing
  }

  private var missing: JournalError {
    JournalError(
      "\(RawPath(arguments.file)) has no run \(RawPath(arguments.run.text)); "
        + "`DevApp journal STORE list` shows the runs")
  }

  // MARK: Actions

  private func list() async throws {
    var layout = TableLayout(numbers: [3], width: output.width)
    var isFirst = true
    var last: RunSummary?
    repeat {
      let page = try await store.runs(
        of: arguments.flow, in: arguments.states, limit: 1_000, after: last)
      last = page.count == 1_000 ? page.last : nil
      if arguments.isJSON {
        try output.write(page.flatMap { RunJSON.line($0) })
      } else if !page.isEmpty {
        let rows = page.map { run in
          [
            RawPath(run.id.text).description, RawPath(run.flow).description, run.began.minute,
            "\(run.step)", run.stateText,
          ]
        }
        let head = ["run", "flow", "began", "steps", "state"]
        try output.write(Array(layout.text(of: isFirst ? [head] + rows : rows).utf8))
      } else if isFirst {
        try output.write(Array("no runs\n".utf8))
      }
      isFirst = false
    } while last != nil
  }

  private func show() async throws -> Int32 {
    var status = ExitCode.success
    if arguments.isLive {
      _ = try await existing()
      let watch = WatchRun(id: arguments.run, store: store, output: standardError)
      let flow = try await PerformedFlow(
        of: watch, seenBy: FlowObservation(FlowOptions()), waitsForEnd: true)
      switch flow.outcome {
      case .result: break
      case .error(let error): throw error
      case .cancelled: status = flow.interruptedStatus
      }
    }
    guard let run = try await store.run(arguments.run) else { throw missing }
    for path in [arguments.options.timeline, arguments.options.trace].compactMap(\.self) {
      try OperationTrace(run).write(to: path)
    }
    if arguments.isJSON {
      try output.write(RunJSON.line(run))
    } else {
      let lines = RunPage(run).lines(in: output.width)
      try output.write(Array(lines.map { $0 + "\n" }.joined().utf8))
    }
    return status
  }

  private func cancel(_ run: RunSummary) async throws {
    if run.state.hasEnded {
      return report("run \(run.id) has already ended (\(run.state.rawValue)); nothing is changed")
    }
    try await store.cancel(run.id, because: arguments.reason)
    let now = try await existing()
    report(
      now.state.hasEnded
        ? "run \(run.id) is cancelled"
        : "the cancellation of run \(run.id) is stored; "
          + "the process that runs it ends it, or the next one that continues it")
  }

  private func send() async throws {
    let (id, event) = (arguments.run, arguments.event)
    if !RunJSON.isValid(arguments.payload) {
      throw JournalError(
        "the payload \(RawPath(arguments.payload)) is not JSON; expected a JSON value, such as "
          + "'{\"isGranted\":true}', '\"text\"' or 7")
    }
    _ = try await existing()
    if try await store.backend.event(event, of: id) != nil {
      throw JournalError("run \(id) has already received the event \(event); the first one counts")
    }
    try await store.send(encoded: arguments.payload, as: event, to: id)
    report("sent the event \(event) to run \(id)")
  }

  private func forget() async throws {
    if let age = arguments.age {
      let count = try await store.forget(olderThan: age)
      return report("forgot \(count.counted("run"))")
    }
    let run = try await existing()
    try await store.forget(run.id)
    report("forgot run \(run.id)")
  }

  private func check() async throws -> Int32 {
    let problems = try await store.check()
    if problems.isEmpty { report("\(RawPath(arguments.file)) has no problems") }
    try output.write(Array(problems.map { $0.onOneLine + "\n" }.joined().utf8))
    return problems.isEmpty ? ExitCode.success : ExitCode.failure
  }
}

/// An error in the use of a journal.
private struct JournalError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
