package import CompositeOperations
package import DurableOperations
import Foundation
import SystemSupport

/// What a run of a flow file runs.
package struct FlowRunOptions: Sendable {
  package var selection = FlowSelection()
  /// The name of the run that is continued, or begins; nil for the last run that has not succeeded.
  package var name: String?
  /// Whether a new run begins in any case.
  package var isFresh = false
  /// Whether the other steps continue after a failure.
  package var keepsGoing = false

  package init() {}
}

/// How the operation of a run has ended.
package struct FlowPerformance: Sendable {
  let outcome: Outcome<Int>
  let duration: Duration
  let wasInterrupted: Bool

  /// - Parameter wasInterrupted: Whether a signal has cancelled it.
  package init(outcome: Outcome<Int>, duration: Duration, wasInterrupted: Bool) {
    (self.outcome, self.duration, self.wasInterrupted) = (outcome, duration, wasInterrupted)
  }
}

/// Runs a flow file, and resumes its last run.
package struct FlowFileRunner: Sendable {
  private let file: FlowFile
  private let folder: FlowFolder
  private let journal: FlowJournal
  let options: FlowRunOptions
  private let selection: FlowSelection.Steps

  /// - Parameters:
  ///   - file: The flow file with its values.
  ///   - path: The path of the journal; nil for the default.
  /// - Throws: A problem of the file, if there is no such step.
  package init(_ file: FlowFile, journal path: String?, _ options: FlowRunOptions) throws {
    self.file = file
    self.options = options
    selection = try options.selection.resolved(in: file)
    folder = FlowFolder(ofFile: file.path, flow: file.name, journal: path)
    journal = FlowJournal(of: file.name, in: folder)
  }

  // MARK: Planning

  /// Returns a line for each step that would run, with the reason, and one for the others.
  package func plannedSteps() async throws -> [String] {
    let definitions = file.definitions(environment: ProcessInfo.processInfo.environment)
    var start: FlowStart?
    if !FileSystem.isMissing(folder.journal) {
      try await journal.open()
      do { start = try await self.start(definitions) } catch {
        await journal.close()
        throw error
      }
      await journal.close()
    }
    let checker = checker(start, definitions)
    let plan = try FlowPlan(checker, selection: selection)
    try plan.checkInputs(checker)
    var lines: [String] = file.steps.compactMap { step in
      switch plan.decisions[step.name] {
      case .runs(let reason): "\(step.name): \(reason)"
      case .mayRun(let need) where !step.isGroup: "\(step.name): if '\(need)' changes an output"
      case .mayRun, .done, .upToDate, .excluded, nil: nil
      }
    }
    let current = plan.count { $0 == .done || $0 == .upToDate }
    if lines.isEmpty { return ["nothing would run"] }
    if current > 0 {
      lines.append("\(current.counted("step")) \(current == 1 ? "is" : "are") current")
    }
    return lines
  }

  private func start(_ definitions: [String: String]) async throws -> FlowStart {
    try await FlowStart(file, journal: journal, options, definitions: definitions)
  }

  private func checker(_ start: FlowStart?, _ definitions: [String: String]) -> FlowChecker {
    FlowChecker(
      file: file, folder: folder, definitions: definitions, records: start?.records ?? [:],
      run: start?.run.number ?? 1, runs: start?.parts ?? [])
  }

  // MARK: Running

  /// Opens the journal, calls a closure, which may run the flow, and closes the journal. Meanwhile, no
  /// other process runs the flow.
  ///
  /// - Parameter report: Receives a message for each command of `on` that fails. They run if the journal
  ///   cannot be opened.
  /// - Throws: A ``FlowLockedError`` if another process runs the flow; the error of the system or of
  ///   the journal; the error of the closure.
  package func whileLocked<Value>(
    report: (String) -> Void, _ body: () async throws -> Value
  ) async throws -> Value {
    try folder.make()
    let lock = try await FlowRunLock(of: file.name, in: folder)
    defer { withExtendedLifetime(lock) {} }
    do {
      do { try await journal.open() } catch {
        let mark = (try? journal.mark) ?? ""
        await FlowHooks(file, in: folder, mark: mark, run: nil)
          .perform(.failed, [], error: error, runBegan: FlowStepRecord.now, report: report)
        throw error
      }
      let value = try await body()
      await journal.close()
      return value
    } catch {
      await journal.close()
      throw error
    }
  }

  /// Runs the flow, and the commands of `on` after it, also after an error.
  ///
  /// - Precondition: ``whileLocked(_:)`` has called the caller.
  /// - Parameters:
  ///   - workers: Opens the store whose workers run the commands; nil to run them in this process.
  ///   - onEvent: Receives what happens.
  ///   - perform: Performs the operation of the run. The closure that it gets sends a signal to the
  ///     processes of the running commands.
  package func run(
    on workers: (() throws -> RunStore)?, onEvent: @escaping @Sendable (FlowRunEvent) -> Void,
    performing perform: (
      AnyOperation<Int>, _ send: @escaping @Sendable (Int32) -> Void
    ) async throws -> FlowPerformance
  ) async throws -> FlowRunState {
    let definitions = file.definitions(environment: ProcessInfo.processInfo.environment)
    let start = try await start(definitions)
    let reporter = FlowReporter(
      flow: file.name, run: start.run.number, runBegan: start.run.began, onEvent: onEvent)
    let hooks = FlowHooks(file, in: folder, mark: try journal.mark, run: start.run.number)
    var result = FlowResult()
    do {
      try await run(start, definitions, reporter, on: workers, performing: perform, &result)
    } catch {
      // The end of a run that has not been stored is no success.
      let state = result.state == .succeeded ? .failed : result.state
      await hooks.perform(
        state, result.ends, error: error, runBegan: reporter.runBegan, report: reporter.message)
      throw error
    }
    await hooks.perform(
      result.state, result.ends, error: result.error, runBegan: reporter.runBegan,
      report: reporter.message)
    reporter.report(.runEnded(result.state, counts: result.counts))
    return result.state
  }

  private func run(
    _ start: FlowStart, _ definitions: [String: String], _ reporter: FlowReporter,
    on workers: (() throws -> RunStore)?,
    performing perform: (
      AnyOperation<Int>, _ send: @escaping @Sendable (Int32) -> Void
    ) async throws -> FlowPerformance, _ result: inout FlowResult
  ) async throws {
    if try await journal.removeFormerSuccesses() {
      reporter.message(
        "the journal has successes of an earlier version, which do not count: all steps run")
    }
    let numbers = try await journal.numbers()
    let processes = FlowProcesses(
      mark: try journal.mark, after: numbers.last, journal: journal)
    // They may still write outputs. So the plan looks at the files after their end.
    if start.mayHaveOrphans { try await terminateOrphans(processes, numbers.units, reporter) }
    let checker = checker(start, definitions)
    let plan = try FlowPlan(checker, selection: selection)
    try plan.checkInputs(checker)
    if let message = start.message(file, plan) { reporter.message(message) }
    if !start.isContinued || start.isOver, plan.count({ !$0.isSettled }) == 0 {
      reporter.report(.runBegan(isResumed: start.isContinued, stepCount: file.steps.count))
      reporter.message("'\(file.name)': all steps are up to date")
      result = FlowResult(upToDate: plan.count { $0 == .done || $0 == .upToDate })
      return
    }
    let commands = FlowCommands(
      plan, checker, journal, isFresh: options.isFresh, report: reporter.message)
    let runner = try await commands.runner(on: workers, processes)
    try await start.begin(in: journal)
    try await journal.beginSteps(
      ofRun: start.run.number, named: file.steps.map(\.name),
      count: plan.count { $0 != .excluded })
    let session = FlowSession(
      checker, plan, journal: journal, after: numbers.last, keepsGoing: options.keepsGoing,
      reporter: reporter, runner: runner)
    // An output without a reader does not end the flow.
    SystemSignal.ignore(SystemSignal.brokenPipe)
    session.recordSettledSteps()
    reporter.report(.runBegan(isResumed: start.isContinued, stepCount: file.steps.count))
    let signs = Task { [journal] in
      while !Task.isCancelled {
        journal.noteSignOfLife(ofRun: start.run.number)
        try? await Task.sleep(for: .seconds(60))
      }
    }
    defer { signs.cancel() }
    let performance = try await FlowSession.$current.withValue(session) {
      try await self.perform(start) { try await perform($0, processes.send) }
    }
    result = FlowResult(session, performance)
    for line in result.lines { reporter.message(line) }
    if result.state != .succeeded { await processes.endUnknown(within: file.stopGrace) }
    session.closeRecords()
    try await journal.store(result.ends, ofRun: start.run.number)
    try await journal.removeCommandProcesses()
    try await runner.end()
  }

  /// Performs the run. If too many processes in a row have ended before a step succeeded, the engine
  /// refuses the run without beginning it. The user wants another attempt.
  private func perform(
    _ start: FlowStart, _ perform: (AnyOperation<Int>) async throws -> FlowPerformance
  ) async throws -> FlowPerformance {
    let id = journal.id(ofRun: start.run.number)
    let operation = AnyOperation(
      DurableOperation(start.flow, named: id, in: journal.store).named("run \(start.run.number)"))
    let performance = try await perform(operation)
    guard performance.outcome.error is RunStuckError else { return performance }
    try await journal.store.retry(id)
    return try await perform(operation)
  }

  /// Terminates the commands that have outlived an earlier process of the flow.
  private func terminateOrphans(
    _ processes: FlowProcesses, _ numbers: [ExactText: Int64], _ reporter: FlowReporter
  ) async throws {
    let numbers = Dictionary(
      numbers.map { (FlowFolder.fileName($0.text), $1) }, uniquingKeysWith: max)
    let orphans = FlowOrphans(
      try await journal.commandProcesses(),
      mark: processes.mark,
      // A step begins again only after the end of its earlier processes.
      unless: { unit, number in numbers[unit].map { $0 > number } ?? false })
    if !orphans.units.isEmpty {
      let count = orphans.units.count.counted("command")
      reporter.message("terminating \(count) of an earlier run")
      try await orphans.terminate { file.step(named: $0.stepName)?.stopGrace ?? file.stopGrace }
    }
    try await journal.removeCommandProcesses()
  }
}
