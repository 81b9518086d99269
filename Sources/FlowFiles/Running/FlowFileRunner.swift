import CompositeOperations
import Foundation
import SystemSupport

/// Runs a flow file, and resumes its last run.
struct FlowFileRunner: Sendable {
  private let file: FlowFile
  private let folder: FlowFolder
  private let journal: FlowJournal
  private let options: FlowRunOptions
  private let selection: FlowSelection.Steps
  private let secrets: FlowSecrets
  private let onEvent: @Sendable (FlowEvent) -> Void

  init(
    _ file: FlowFile, in folder: FlowFolder, _ options: FlowRunOptions,
    onEvent: @escaping @Sendable (FlowEvent) -> Void
  ) throws {
    (self.file, self.folder, self.options, self.onEvent) = (file, folder, options, onEvent)
    secrets = FlowSecrets(file, environment: ProcessInfo.processInfo.environment)
    selection = try options.selection.resolved(in: file)
    journal = FlowJournal(of: file.name, at: folder.database)
  }

  /// Runs the flow, unless it is in progress, or a run in progress uses the same files.
  ///
  /// - Parameters:
  ///   - workers: Opens the store whose workers run the commands; nil to run them in this process.
  ///   - commands: Receives the commands, which may get signals.
  ///   - isSole: See ``FlowRun/isSole``.
  /// - Throws: See ``FlowRun/perform(in:)``.
  func run(
    on workers: FlowWorkersOpener?, _ commands: FlowRunningCommands, isSole: Bool,
    in context: OperationContext
  ) async throws -> FlowReport {
    try folder.make()
    let lock: FlowRunLock
    do {
      lock = try await FlowRunLock(in: folder) { process in
        reporter(0).message(
          "waiting for \(process.map { "process \($0)" } ?? "another process"), which begins a run of "
            + "'\(file.name)'")
      }
    } catch let error as SystemError {
      throw FlowFailure.other(
        "\(folder.beginningLock.onOneLine): \(error); --state FOLDER puts the state elsewhere")
    }
    defer { withExtendedLifetime(lock) {} }
    do {
      let beginning: Beginning
      do { beginning = try await self.beginning(lock) } catch let error as FlowLockedError {
        throw error
      } catch {
        // Without a number, no other run can know that it is in progress.
        lock.endBeginning()
        await perform(hooks(nil), FlowResult(), error, reporter(0))
        throw error
      }
      let report = try await run(beginning, on: workers, commands, isSole: isSole, in: context)
      await journal.close()
      return report
    } catch {
      await journal.close()
      throw error
    }
  }

  /// A run that is about to begin or to be continued.
  private struct Beginning {
    let lock: FlowRunLock
    let start: FlowStart
    let definitions: [String: String]
    let reporter: FlowReporter
  }

  /// Opens the journal, and decides which run begins or is continued.
  private func beginning(_ lock: FlowRunLock) async throws -> Beginning {
    try await journal.open()
    let hasKilledRuns = try await journal.endCancelledRuns(except: lock.otherRuns)
    let key = file.secrets.isEmpty ? "" : try await journal.secretKey()
    let definitions = file.definitions(
      environment: ProcessInfo.processInfo.environment, hashingWith: key)
    let start = try await FlowStart(
      file, journal: journal, options, definitions: definitions, beside: lock.others,
      hasKilledRuns: hasKilledRuns)
    if !folder.isBesideFile { try start.checkFile() }
    try check(start.run, beside: lock.others)
    return Beginning(
      lock: lock, start: start, definitions: definitions,
      reporter: reporter(start.run.number, named: start.run.name))
  }

  private func reporter(_ run: Int, named name: String? = nil) -> FlowReporter {
    FlowReporter(flow: file.name, run: run, named: name, hiding: secrets, onEvent: onEvent)
  }

  /// The files that no other run may use at the same time.
  private var files: FlowRunFiles { FlowRunFiles(file, selection.included, in: folder.path) }

  /// - Throws: A ``FlowLockedError`` if a run in progress has the same name, or uses the same files.
  private func check(
    _ run: FlowRunRecord, beside others: [FlowRunHolder]
  ) throws(FlowLockedError) {
    if others.isEmpty { return }
    if let other = others.first(where: { $0.name == run.name }) {
      throw FlowLockedError(flow: file.name, holder: other)
    }
    let files = files
    for other in others {
      if let path = files.conflict(with: other.files) {
        throw FlowLockedError(flow: file.name, file: path, holder: other)
      }
    }
  }

  /// The commands of `on`.
  ///
  /// - Parameter run: The number of the run; nil if the journal cannot be read.
  private func hooks(_ run: Int?) -> FlowHooks {
    FlowHooks(file, in: folder, mark: try? journal.mark, run: run, hiding: secrets)
  }

  /// Performs the commands of `on`, also if the task is cancelled.
  ///
  /// - Parameter beginning: The run. If it has not begun, it has its lock while they run, too.
  private func perform(
    _ hooks: FlowHooks, _ result: FlowResult, _ error: (any Error)?, _ reporter: FlowReporter,
    _ beginning: Beginning? = nil
  ) async {
    var state = result.state
    if let error {
      // The end of a run that has not been stored is no success.
      if state == .succeeded { state = .failed }
      if error.meansCancellation { state = .interrupted }
    }
    if let beginning, !file.occasions.isEmpty {
      await Task {
        // On a full disk, no other run can begin until they have ended.
        do {
          try await beginning.lock.hold(beginning.start.run)
          beginning.lock.endBeginning()
        } catch {}
      }.value
    }
    let interrupted = await hooks.perform(
      state, result.ends, error: error ?? result.error, report: reporter.message)
    var lines = interrupted
    if Task.isCancelled, error == nil, state != .interrupted {
      // The exit status of the program is the one of the signal.
      lines.insert(
        "interrupted after all steps had ended: run \(reporter.run) is stored as \(state.rawValue)",
        at: 0)
    }
    if !lines.isEmpty { reporter.message(lines.joined(separator: "; ")) }
  }

  private func run(
    _ beginning: Beginning, on workers: FlowWorkersOpener?, _ commands: FlowRunningCommands,
    isSole: Bool, in context: OperationContext
  ) async throws -> FlowReport {
    let (run, reporter) = (beginning.start.run, beginning.reporter)
    let hooks = hooks(run.number)
    var result = FlowResult()
    do {
      try await self.run(
        beginning, on: workers, commands, isSole: isSole, in: context, &result)
    } catch {
      await perform(hooks, result, error, reporter, beginning)
      let state: FlowRunState = error.meansCancellation ? .interrupted : .failed
      reporter.report(.runEnded(state, counts: result.counts))
      throw error
    }
    await perform(hooks, result, nil, reporter, beginning)
    reporter.report(.runEnded(result.state, counts: result.counts))
    let report = FlowReport(file, run, result.state, result.ends)
    switch result.state {
    case .succeeded: return report
    case .interrupted, .running: throw CancellationError()
    case .failed, .cancelled:
      throw FlowRunError(report: report, messages: result.failures + result.lines)
    }
  }

  private func run(
    _ beginning: Beginning, on workers: FlowWorkersOpener?, _ commands: FlowRunningCommands,
    isSole: Bool, in context: OperationContext, _ result: inout FlowResult
  ) async throws {
    let (start, reporter, lock) = (beginning.start, beginning.reporter, beginning.lock)
    if start.run.number == 1, folder.hasFormerJournal {
      reporter.message(
        "\(folder.state.onOneLine) has the journal of an earlier version, of which nothing counts: "
          + "all steps run")
    }
    for name in secrets.unset {
      reporter.message("the secret '\(name)' is not set, so nothing is hidden for it")
    }
    let lastNumber = try await journal.lastNumber()
    let processes = try FlowProcesses(
      ofRun: start.run.number, after: lastNumber, isSole: isSole, journal: journal)
    // They may still write outputs. So the plan looks at the files after their end.
    if start.mayHaveOrphans { try await terminateOrphans(beside: lock.otherRuns, reporter) }
    let checker = FlowChecker(file, folder, start, beginning.definitions, hiding: secrets)
    let plan = try FlowPlan(checker, selection: selection)
    try plan.checkInputs(checker)
    // An error does not matter: then their contents are read again.
    try? await journal.renew(
      plan.currentUnits(file).compactMap { try? checker.renewedRecord(of: $0) })
    try Task.checkCancellation()
    if let message = start.message(file, plan) { reporter.message(message) }
    if !start.isContinued || start.isOver, plan.count({ !$0.isSettled }) == 0 {
      try checker.checkOverlaps { plan.children[$0] }
      reporter.report(.runBegan(isResumed: start.isContinued, stepCount: file.steps.count))
      reporter.message("'\(file.name)': all steps are up to date")
      let ends = file.steps.compactMap { step in
        plan.decisions[step.name].flatMap { decision in
          decision == .excluded ? nil : FlowEnd(unit: step.name, state: .upToDate)
        }
      }
      result = FlowResult(upToDate: ends)
      return
    }
    if workers != nil, !file.secrets.isEmpty {
      throw FlowFailure.other(
        "--on with a file that has secrets, which the database would contain; expected variables of "
          + "the workers instead of 'secrets'")
    }
    let runner = try await FlowCommands(
      plan, checker, journal, beside: lock.otherRuns, isFresh: options.isFresh,
      report: reporter.message
    ).runner(on: workers, processes)
    try await lock.hold(start.run, with: files)
    try await start.begin(in: journal)
    let kept = try await journal.beginSteps(
      ofRun: start.run.number, named: file.steps.map(\.name),
      count: plan.count { $0 != .excluded }, keeping: file.kept, and: lock.otherRuns)
    try folder.makeLogs(ofRun: start.run.number, keeping: kept.contains)
    lock.endBeginning()
    let session = FlowSession(
      checker, plan, journal: journal, after: lastNumber, keepsGoing: options.keepsGoing,
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
    let clock = ContinuousClock.now
    let signalled = commands.add(processes)
    defer { commands.remove(signalled) }
    var outcome = await session.outcome(in: context)
    if case .success = outcome {
      do { try session.checkOverlaps() } catch { outcome = .failure(error) }
    }
    result = FlowResult(session, outcome, wasCancelled: Task.isCancelled, after: .now - clock)
    let ended = result
    // In a task of its own, because this one may be cancelled.
    try await Task { try await end(ended, session, processes) }.value
  }

  /// Reports and stores how a run has ended.
  private func end(
    _ result: FlowResult, _ session: FlowSession, _ processes: FlowProcesses
  ) async throws {
    for line in result.failures { session.reporter.failure(line) }
    for line in result.lines { session.reporter.message(line) }
    if result.state != .succeeded { await processes.endUnknown(within: file.stopGrace) }
    session.closeRecords()
    try await journal.store(result.ends, ofRun: session.checker.run)
    try await journal.end(run: session.checker.run, result)
    try await journal.removeCommandProcesses(ofRun: session.checker.run)
    try await session.runner.end()
  }

  /// Terminates the commands that have outlived earlier processes of the flow.
  ///
  /// - Parameter live: The runs that other processes work on.
  private func terminateOrphans(
    beside live: Set<Int>, _ reporter: FlowReporter
  ) async throws {
    let orphans = FlowOrphans(
      try await journal.commandProcesses(except: live), mark: try journal.mark, except: live,
      // A step begins again only after the end of its earlier processes.
      unless: try await journal.earlierRuns().hasLeft)
    if !orphans.units.isEmpty {
      let count = orphans.units.count.counted("command")
      reporter.message("terminating \(count) of an earlier run")
      try await orphans.terminate { file.step(named: $0.stepName)?.stopGrace ?? file.stopGrace }
    }
    for command in orphans.foreign {
      reporter.message(
        "'\(command.unit.onOneLine)' runs as process \(command.process), begun by the flow of another state, of which this "
          + "one is a copy; if \(folder.state.onOneLine) was moved here from another file system, end it: "
          + "kill -- -\(command.process)")
    }
    try await journal.releaseRuns(except: live)
  }
}
