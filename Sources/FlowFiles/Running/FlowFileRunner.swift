package import CompositeOperations
package import DurableOperations
import Foundation
import SystemSupport

/// What a run of a flow file runs.
package struct FlowRunOptions: Sendable {
  /// The steps that run.
  package enum Selection: Sendable {
    /// All steps that have to run.
    case all
    /// A step, and all steps that need it.
    case from(String)
    /// A step alone.
    case only(String)

    /// The options of the command line, for the journal; nil for all steps.
    var text: String? {
      switch self {
      case .all: nil
      case .from(let step): "--from \(step)"
      case .only(let step): "--only \(step)"
      }
    }
  }

  let selection: Selection
  let isFresh: Bool
  let keepsGoing: Bool

  /// - Parameters:
  ///   - isFresh: Whether a new run begins instead of resuming the last one.
  ///   - keepsGoing: Whether the other steps continue after a failure.
  package init(_ selection: Selection, isFresh: Bool, keepsGoing: Bool) {
    (self.selection, self.isFresh, self.keepsGoing) = (selection, isFresh, keepsGoing)
  }
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
  /// The names of the steps that the options select; nil for all.
  private let selection: Set<String>?

  /// - Parameters:
  ///   - file: The flow file with its values.
  ///   - path: The path of the journal; nil for the default.
  /// - Throws: A problem of the file, if there is no such step.
  package init(_ file: FlowFile, journal path: String?, _ options: FlowRunOptions) throws {
    self.file = file
    self.options = options
    selection = try Self.selection(options, file)
    folder = FlowFolder(ofFile: file.path, flow: file.name, journal: path)
    journal = FlowJournal(of: file.name, in: folder)
  }

  private static func selection(
    _ options: FlowRunOptions, _ file: FlowFile
  ) throws -> Set<String>? {
    switch options.selection {
    case .all: return nil
    case .from(let step): return try file.steps(from: step)
    case .only(let step):
      try file.checkStep(step)
      return [step]
    }
  }

  // MARK: Planning

  /// Returns a line for each step that would run, with the reason. Changes nothing but the journal,
  /// where it stores the successes of an interrupted run.
  package func plannedSteps() async throws -> [String] {
    let definitions = file.definitions(environment: ProcessInfo.processInfo.environment)
    var start: FlowStart?
    if !FileSystem.isMissing(folder.journal) {
      try await journal.open()
      start = try await self.start(definitions)
      await journal.close()
    }
    let checker = FlowChecker(
      file: file, folder: folder, definitions: definitions,
      stamps: start?.stamps ?? [:], run: start?.run.number ?? 1,
      isResumed: start?.isResumed ?? false)
    let plan = FlowPlan(checker, selection: selection)
    return file.steps.compactMap { step in
      switch plan.decisions[step.name] {
      case .runs(let reason): "\(step.name): \(reason)"
      case .mayRun(let need): "\(step.name): if '\(need)' changes an output"
      case .done, .upToDate, .excluded, nil: nil
      }
    }
  }

  private func start(_ definitions: [String: String]) async throws -> FlowStart {
    try await FlowStart(
      file, path: file.path, journal: journal, selection: options.selection.text,
      isFresh: options.isFresh, definitions: definitions)
  }

  // MARK: Running

  /// Opens the journal, calls a closure, which may run the flow, and closes the journal. Meanwhile, no
  /// other process runs the flow.
  ///
  /// - Throws: A ``FlowLockedError`` if another process runs the flow; the error of the system or of
  ///   the journal; the error of the closure.
  package func whileLocked<Value>(_ body: () async throws -> Value) async throws -> Value {
    try folder.make()
    let lock = try await FlowRunLock(of: file.name, in: folder)
    defer { withExtendedLifetime(lock) {} }
    do {
      try await journal.open()
      let value = try await body()
      await journal.close()
      return value
    } catch {
      await journal.close()
      throw error
    }
  }

  /// Runs the flow.
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
    let checker = FlowChecker(
      file: file, folder: folder, definitions: definitions,
      stamps: start.stamps, run: start.run.number, isResumed: start.isResumed)
    let plan = FlowPlan(checker, selection: selection)
    let reporter = FlowReporter(
      flow: file.name, run: start.run.number, runBegan: start.run.began, onEvent: onEvent)
    if let message = start.message(file, plan) { reporter.message(message) }
    if !start.isResumed, plan.count({ !$0.isSettled }) == 0 {
      reporter.message("'\(file.name)': all steps are up to date")
      return .succeeded
    }
    let processes = FlowProcesses(mark: "\(file.name)@\(folder.journal)", journal: journal)
    if start.mayHaveOrphans { try await terminateOrphans(processes, start.stamps, reporter) }
    let commands = FlowCommands(
      plan, checker, journal, isFresh: options.isFresh, report: reporter.message)
    let runner = try await commands.runner(on: workers, processes)
    try await start.begin(in: journal)
    try await journal.beginSteps(
      ofRun: start.run.number, named: file.steps.map(\.name),
      count: plan.count { $0 != .excluded })
    let session = FlowSession(
      checker, plan, journal: journal, keepsGoing: options.keepsGoing, reporter: reporter,
      runner: runner)
    // An output without a reader does not end the flow.
    SystemSignal.ignore(SystemSignal.brokenPipe)
    session.recordSettledSteps()
    reporter.report(.runBegan(isResumed: start.isResumed, stepCount: file.steps.count))
    let performance = try await FlowSession.$current.withValue(session) {
      try await self.perform(start) { try await perform($0, processes.send) }
    }
    let result = FlowResult(session, performance)
    if result.state != .succeeded { await processes.endUnknown(within: file.stopGrace) }
    try await session.storeStamps()
    session.closeRecords()
    try await journal.store(result.ends, ofRun: start.run.number)
    try await journal.removeCommandProcesses()
    try await runner.end()
    for line in result.lines { reporter.message(line) }
    reporter.report(.runEnded(result.state, counts: result.counts))
    return result.state
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
    _ processes: FlowProcesses, _ stamps: [String: FlowStamp], _ reporter: FlowReporter
  ) async throws {
    let orphans = FlowOrphans(
      try await journal.commandProcesses(),
      mark: processes.mark,
      // A step begins again only after the end of its earlier processes.
      unless: { unit, beginning in stamps[unit].map { $0.ended >= beginning } ?? false })
    if !orphans.units.isEmpty {
      let count = orphans.units.count.counted("command")
      reporter.message("terminating \(count) of an earlier run")
      await orphans.terminate { file.step(named: $0.stepName)?.stopGrace ?? file.stopGrace }
    }
    try await journal.removeCommandProcesses()
  }
}
