import CommandLineOperations
import CompositeOperations
import DurableOperations
import FlowFiles
import Foundation
import SystemSupport

/// `coop flow run FILE`
struct FlowRunCommand {
  let arguments: FlowArguments
  private let standardError = StandardError()

  init(_ arguments: FlowArguments) { self.arguments = arguments }

  /// - Returns: The exit status.
  func run() async throws -> Int32 {
    let file = try FlowFile.read(contentsOf: arguments.file, setting: arguments.values)
    let selection = try self.selection(file)
    let folder = FlowFolder(
      ofFile: arguments.file, flow: file.name, journal: arguments.journal)
    let journal = FlowJournal(of: file.name, in: folder)
    if arguments.isDryRun { return try await printPlan(file, folder, journal, selection) }
    try folder.make()
    let lock = try await FlowRunLock(of: file.name, in: folder)
    defer { withExtendedLifetime(lock) {} }
    do {
      try await journal.open()
      let status = try await run(file, folder, journal, selection)
      await journal.close()
      return status
    } catch {
      await journal.close()
      throw error
    }
  }

  /// The names of the steps that the options select; nil without such an option.
  private func selection(_ file: FlowFile) throws -> Set<String>? {
    if let step = arguments.from { return try file.steps(from: step) }
    guard let step = arguments.only else { return nil }
    try file.checkStep(step)
    return [step]
  }

  /// The options that select steps, for the journal.
  private var selectionText: String? {
    arguments.from.map { "--from \($0)" } ?? arguments.only.map { "--only \($0)" }
  }

  private func run(
    _ file: FlowFile, _ folder: FlowFolder, _ journal: FlowJournal, _ selection: Set<String>?
  ) async throws -> Int32 {
    let observation = try ProgramObservation(
      arguments.options,
      progressOn: standardError.isTerminal && !arguments.isJSON ? standardError : nil)
    let definitions = file.definitions(environment: ProcessInfo.processInfo.environment)
    let start = try await FlowStart(
      file, path: arguments.file, journal: journal, selection: selectionText,
      isFresh: arguments.isFresh, definitions: definitions)
    let checker = FlowChecker(
      file: file, folder: folder, definitions: definitions,
      stamps: start.stamps, run: start.run.number, isResumed: start.isResumed)
    let plan = FlowPlan(checker, selection: selection)
    if let message = start.message(file, plan) {
      standardError.writeLine("coop flow: \(message)")
    }
    if !start.isResumed, plan.count({ !$0.isSettled }) == 0 {
      report("'\(file.name)': all steps are up to date")
      try observation.end()
      return ExitCode.success
    }
    let processes = FlowProcesses(mark: "\(file.name)@\(folder.journal)", journal: journal)
    if start.mayHaveOrphans { try await terminateOrphans(processes, journal) }
    let runner = try await runner(processes, journal, checker, plan)
    try await start.begin(in: journal)
    try await journal.beginSteps(
      ofRun: start.run.number, named: file.steps.map(\.name),
      count: plan.count { $0 != .excluded })
    let style: FlowReporter.Style =
      arguments.isJSON ? .json : standardError.isTerminal ? .silent : .lines
    let reporter = FlowReporter(
      flow: file.name, run: start.run.number, runBegan: start.run.began, style: style)
    let session = FlowSession(
      checker, plan, journal: journal, keepsGoing: arguments.keepsGoing, reporter: reporter,
      runner: runner)
    // An output without a reader does not end the flow.
    SystemSignal.ignore(SystemSignal.brokenPipe)
    session.recordSettledSteps()
    reporter.runBegan(isResumed: start.isResumed, stepCount: file.steps.count)
    let performed = try await FlowSession.$current.withValue(session) {
      try await perform(start, journal, observation, processes)
    }
    let result = FlowResult(session, performed)
    try await session.storeStamps()
    session.closeRecords()
    try await journal.store(result.ends, ofRun: start.run.number)
    try await journal.removeCommandProcesses()
    try await runner.end()
    for line in result.lines { report(line) }
    reporter.runEnded(result.state, result.counts)
    try observation.end()
    return result.status
  }

  /// Runs the flow. If too many processes in a row have ended before a step succeeded, the engine
  /// refuses the run without beginning it. The user wants another attempt.
  private func perform(
    _ start: FlowStart, _ journal: FlowJournal, _ observation: ProgramObservation,
    _ processes: FlowProcesses
  ) async throws -> ProgramRun<Int> {
    let operation = DurableOperation(
      start.flow, named: journal.id(ofRun: start.run.number), in: journal.store)
    var isRepeated = false
    while true {
      let performed = try await ProgramRun(
        of: operation.named("run \(start.run.number)"), observedBy: observation, awaitsEnd: true,
        force: processes.kill)
      guard performed.outcome.error is RunStuckError, !isRepeated else { return performed }
      try await journal.store.retry(journal.id(ofRun: start.run.number))
      isRepeated = true
    }
  }

  /// Terminates the commands that have outlived an earlier process of the flow.
  private func terminateOrphans(_ processes: FlowProcesses, _ journal: FlowJournal) async throws {
    let orphans = FlowOrphans(
      try await journal.commandProcesses(),
      mark: "\(FlowProcesses.variable)=\(processes.mark)")
    if !orphans.groups.isEmpty {
      let count = orphans.groups.count.counted("command")
      report("terminating \(count) of an earlier run")
      try await orphans.terminate()
    }
    try await journal.removeCommandProcesses()
  }

  @Sendable func report(_ text: String) { standardError.writeLine("coop flow: \(text)") }

  // MARK: Dry run

  private func printPlan(
    _ file: FlowFile, _ folder: FlowFolder, _ journal: FlowJournal, _ selection: Set<String>?
  ) async throws -> Int32 {
    let definitions = file.definitions(environment: ProcessInfo.processInfo.environment)
    var start: FlowStart?
    if !FileSystem.isMissing(folder.journal) {
      try await journal.open()
      start = try await FlowStart(
        file, path: arguments.file, journal: journal, selection: selectionText,
        isFresh: arguments.isFresh, definitions: definitions)
      await journal.close()
    }
    let checker = FlowChecker(
      file: file, folder: folder, definitions: definitions,
      stamps: start?.stamps ?? [:], run: start?.run.number ?? 1,
      isResumed: start?.isResumed ?? false)
    let plan = FlowPlan(checker, selection: selection)
    var lines: [String] = []
    for step in file.steps {
      switch plan.decisions[step.name] {
      case .runs(let reason): lines.append("\(step.name): \(reason)")
      case .mayRun(let need):
        lines.append("\(step.name): if '\(need)' changes an output")
      case .done, .upToDate, .excluded, nil: break
      }
    }
    if lines.isEmpty { lines = ["nothing would run"] }
    try StandardOutput().write(Array((lines.joined(separator: "\n") + "\n").utf8))
    return ExitCode.success
  }
}
