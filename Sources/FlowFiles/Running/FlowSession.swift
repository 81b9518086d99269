import CompositeOperations
import SystemSupport

/// What the steps of a run share.
final class FlowSession: Sendable {
  let file: FlowFile
  let folder: FlowFolder
  let journal: FlowJournal
  let checker: FlowChecker
  let plan: FlowPlan
  /// The number of the last success before this process.
  let lastNumber: Int64
  let keepsGoing: Bool
  let reporter: FlowReporter
  let runner: any FlowRunner
  let stop = FlowStop()
  let output: FlowOutput
  /// The slots of commands.
  let slots: Permits
  let locks: [String: Permits]
  /// The steps that have `each`, by name.
  let children: [String: FlowChildren]
  private let recorder: FlowStepRecorder
  private let ends = Lock<[ExactText: FlowEnd]>([:])

  init(
    _ checker: FlowChecker, _ plan: FlowPlan, journal: FlowJournal, after lastNumber: Int64,
    keepsGoing: Bool, reporter: FlowReporter, runner: any FlowRunner
  ) {
    self.lastNumber = lastNumber
    file = checker.file
    folder = checker.folder
    self.checker = checker
    self.plan = plan
    self.journal = journal
    self.keepsGoing = keepsGoing
    self.reporter = reporter
    self.runner = runner
    recorder = FlowStepRecorder { [run = checker.run] records, onFailure in
      journal.storeLater(records, ofRun: run, onFailure: onFailure)
    }
    output = FlowOutput(file.output) { reporter.report(.output($0, $1)) }
    locks = Dictionary(
      uniqueKeysWithValues: file.locks.map { ($0, Permits($1, name: $0)) })
    var children: [String: FlowChildren] = [:]
    for step in file.steps where step.each != nil { children[step.name] = FlowChildren() }
    self.children = children
    let width = file.width ?? Processors.count
    let most = Self.mostCommands(readingOutput: !checker.lineSources.isEmpty)
    if width > most {
      reporter.message(
        "width \(width) is limited to \(most): this process may have "
          + "\(SystemProcess.descriptorLimit) file descriptors (ulimit -n)")
    }
    slots = Permits(min(width, most), name: "a slot")
    // Without known values, a step with `same-as` would wait for them forever.
    for step in file.steps where plan.decisions[step.name]?.isSettled == true {
      if plan.children[step.name] == nil { children[step.name]?.close() }
    }
    for (name, values) in plan.children where plan.decisions[name]?.isSettled == true {
      children[name]?.values.set(values)
      for value in values {
        children[name]?.end(of: value).set(
          FlowStepState(checker.records[ExactText("\(name)[\(value)]")]))
      }
    }
  }

  /// How many commands can run at once: each needs a descriptor for its end and may need one for its
  /// output, and the flow needs others.
  private static func mostCommands(readingOutput readsOutput: Bool) -> Int {
    max(1, (SystemProcess.descriptorLimit - 44) / (readsOutput ? 2 : 1))
  }

  /// See ``FlowChecker/checkOverlaps(children:)``.
  func checkOverlaps() throws {
    try checker.checkOverlaps { [self] in
      children[$0]?.values.current.flatMap(\.self) ?? plan.children[$0]
    }
  }

  // MARK: Failures

  /// Whether a step must not begin, because another one has failed.
  func isStopped(for step: FlowStep) -> Bool { step.after.isEmpty && stop.isStopped }

  // MARK: Beginnings

  /// Notes that an attempt begins, or with 0 that the condition is checked.
  func began(_ unit: FlowUnit, attempt: Int) {
    recorder.note(FlowStepRecord(unit, attempt: attempt))
    if attempt == 1 { reporter.report(.stepBegan(unit.name)) }
  }

  func began(_ step: FlowStep, children values: [String]) {
    var record = FlowStepRecord(unit: step.name, began: FlowStepRecord.now)
    record.children = values.count
    record.childNames = values.map { FlowUnit(step: step, each: $0).name }
    recorder.note(record)
  }

  /// Stores what the plan has decided about steps that do not run.
  func recordSettledSteps() {
    for step in file.steps {
      switch plan.decisions[step.name] {
      case .done: recorder.note(FlowStepRecord(FlowEnd(unit: step.name, state: .done)))
      case .upToDate: recorder.note(FlowStepRecord(FlowEnd(unit: step.name, state: .upToDate)))
      case .runs, .mayRun, .excluded, nil: break
      }
    }
  }

  // MARK: Ends

  /// Stores the progress of the steps for the last time. The ends of the steps are stored after it.
  func closeRecords() { recorder.close() }

  /// How the steps have ended, by name.
  var stepEnds: [ExactText: FlowEnd] { ends.withLock { $0 } }

  /// Notes and reports the end of a step or a child.
  func note(_ end: FlowEnd) {
    let end = end.hiding(checker.secrets)
    ends.withLock { $0[ExactText(end.unit)] = end }
    recorder.note(FlowStepRecord(end))
    reporter.ended(end)
    if end.state == .failed, !end.isChild, !keepsGoing { stop.stop() }
  }
}
