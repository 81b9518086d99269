import CommandLineOperations
import CompositeOperations
import DurableOperations
import FlowFiles
import Foundation
import OperationTracing
import RunPage
import SystemSupport

/// The actions of `coop journal` on an open store.
struct JournalActions {
  let arguments: JournalArguments
  let store: RunStore
  let output: StandardOutput
  let standardError: StandardError

  init(
    _ arguments: JournalArguments, _ store: RunStore, _ output: StandardOutput,
    _ standardError: StandardError
  ) {
    self.arguments = arguments
    self.store = store
    self.output = output
    self.standardError = standardError
  }

  func report(_ text: String) {
    standardError.writeLine("coop journal: \(text.onOneLine)")
  }

  /// The file or the database, without a password.
  var place: String { store.place(arguments.place) }

  /// - Returns: The exit status.
  func perform() async throws -> Int32 {
    switch arguments.action {
    case .list: try await list()
    case .show: return try await show()
    case .cancel, .retry, .forget:
      if arguments.isForSelection { return try await performOnSelection() }
      if let age = arguments.age { return try await forget(olderThan: age) }
      report(try await perform(on: try await existing()))
    case .send: try await send()
    case .check: return try await check()
    case .copy:
      try await store.copy(to: arguments.file)
      report("copied \(place) to \(RawPath(arguments.file))")
    case .serve: return try await serve()
    case .`init`: return try await showPreparation()
    }
    return ExitStatus.success
  }

  /// The run that the arguments name.
  private func existing() async throws -> RunSummary {
    if let run = try await store.summary(of: arguments.run) { return run }
    throw missing
  }

  private var missing: JournalError {
    JournalError(
      "\(place) has no run \(RawPath(arguments.run.text)); "
        + "`coop journal STORE list` shows the runs")
  }

  // MARK: Actions

  private func list() async throws {
    var layout = TableLayout(numbers: [3], width: output.width)
    var isFirst = true
    try await selected.eachPage(of: store, limit: arguments.limit) { page in
      defer { isFirst = false }
      if arguments.isJSON { return try output.write(page.flatMap { RunJSON.line($0) }) }
      let rows = page.map { run in
        [
          RawPath(run.id.text).description, RawPath(run.flow).description, run.began.minute,
          "\(run.step)", run.stateText,
        ]
      }
      let heads = isFirst ? [["run", "flow", "began", "steps", "state"]] : []
      let text = layout.text(of: heads + rows) { index, line in
        let isFailed =
          index >= heads.count && [.error, .stuck].contains(page[index - heads.count].state)
        return isFailed ? output.highlightedFailure(line) : line
      }
      try output.write(Array(text.utf8))
    }
    if isFirst, !arguments.isJSON { try output.write(Array("no runs\n".utf8)) }
  }

  private func show() async throws -> Int32 {
    var status = ExitStatus.success
    if arguments.isLive {
      _ = try await existing()
      let watch = WatchRun(id: arguments.run, store: store, output: standardError)
      let flow = try await ProgramRun(
        of: watch, observedBy: ProgramObservation(TraceOptions()), awaitsEnd: true)
      switch flow.outcome {
      case .result: break
      case .error(let error): throw error
      case .cancelled: status = flow.interruptedStatus
      }
    }
    guard let run = try await store.run(arguments.run) else { throw missing }
    let files = [arguments.options.timeline, arguments.options.trace].compactMap(\.self)
    if !files.isEmpty {
      let trace = OperationTrace(run, children: try await children(of: run.summary))
      for path in files { try trace.write(to: path) }
    }
    if arguments.isJSON {
      try output.write(
        RunJSON.line(
          run, events: try await store.events(of: run.summary.id),
          actions: try await store.actions(on: run.summary.id)))
    } else {
      let lines =
        RunText(run).lines(in: output.width)
        + (try await store.actions(on: run.summary.id)).reversed().map(\.line)
      try output.write(Array(lines.map { $0 + "\n" }.joined().utf8))
    }
    return status
  }

  /// Returns the child flows of a run, the oldest first.
  private func children(of parent: RunSummary) async throws -> [RunDetails] {
    var children: [RunDetails] = []
    for run in try await store.runs(RunSelection(parent: parent.id)).reversed() {
      if let details = try await store.run(run.id) { children.append(details) }
    }
    return children
  }

  /// Does something with a run, and keeps that this user has done it.
  func recording<Result>(
    _ detail: String?, on run: RunID? = nil, _ body: () async throws -> Result
  ) async throws -> Result {
    let actor = "user \(SystemUser.name(of: SystemUser.current)) by coop journal"
    return try await store.recording(
      arguments.action.rawValue, detail, by: actor, on: run ?? arguments.run, body)
  }

  private func send() async throws {
    let (id, event) = (arguments.run, arguments.event)
    if !RunJSON.isValid(arguments.payload) {
      throw JournalError(
        "the payload \(RawPath(arguments.payload)) is not JSON; expected a JSON value, such as "
          + "'{\"isGranted\":true}', '\"text\"' or 7")
    }
    _ = try await existing()
    let isFirst = try await recording(event) {
      if try await store.send(encoded: arguments.payload, as: event, to: id) { return true }
      guard try await store.send(encoded: arguments.payload, as: event, to: id, replacing: true)
      else {
        throw JournalError(
          "the event \(event) does not count: a step of run \(id) has received one, or the limit of its wait has "
            + "passed; retry the run from that step, then send the event")
      }
      return false
    }
    report("sent the event \(event) to run \(id)" + (isFirst ? "" : ", in place of an earlier one"))
  }

  private func forget(olderThan age: Duration) async throws -> Int32 {
    // A row for all of them, which belongs to no run.
    let count = try await recording("older than \(age.components.seconds) s") {
      try await store.forget(olderThan: age)
    }
    report("forgot \(count.counted("run"))")
    return ExitStatus.success
  }

  private func check() async throws -> Int32 {
    let problems = try await store.check()
    let schema = try await store.backend.preparation()?.parts.first { $0.name == "schema" }
    let version = schema.map { " (schema: \($0.finding))" } ?? ""
    report(
      problems.isEmpty
        ? "\(place) has no problems\(version)"
        : "\(place) has \(problems.count.counted("problem"))\(version)")
    try output.write(Array(problems.map { $0.onOneLine + "\n" }.joined().utf8))
    return problems.isEmpty ? ExitStatus.success : ExitStatus.failure
  }

  /// Shows how to prepare the database, and what is missing in it.
  private func showPreparation() async throws -> Int32 {
    guard let preparation = try await store.backend.preparation() else {
      report("\(place) needs no preparation; the first program that starts a run creates the file")
      return ExitStatus.success
    }
    try output.write(Array(PreparationPage(preparation, of: place).text.utf8))
    return preparation.isComplete ? ExitStatus.success : ExitStatus.failure
  }
}

extension RecordedAction {
  /// The line of an action below its run.
  fileprivate var line: String {
    let detail = detail.map { " (\($0))" } ?? ""
    let time = Date(timeIntervalSince1970: Double(began) / 1_000).minute
    return "  \(action)\(detail) at \(time) by \(actor): \(result)".onOneLine
  }
}
