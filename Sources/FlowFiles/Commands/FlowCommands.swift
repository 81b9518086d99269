import SystemSupport

/// The commands of a run, and those of earlier runs that workers may still be running.
struct FlowCommands {
  private let plan: FlowPlan
  private let checker: FlowChecker
  private let journal: FlowJournal
  private let others: Set<Int>
  private let isFresh: Bool
  private let report: @Sendable (String) -> Void

  /// - Parameters:
  ///   - others: The other runs in progress, whose commands stay as they are.
  ///   - isFresh: Whether commands on workers that this run does not use may be left running.
  ///   - report: Reports a line for the user.
  init(
    _ plan: FlowPlan, _ checker: FlowChecker, _ journal: FlowJournal, beside others: Set<Int>,
    isFresh: Bool, report: @escaping @Sendable (String) -> Void
  ) {
    (self.plan, self.checker, self.journal) = (plan, checker, journal)
    (self.others, self.isFresh, self.report) = (others, isFresh, report)
  }

  /// The runner of the commands, after the end of those of earlier runs that are not continued.
  ///
  /// - Parameter workers: Opens their store; nil to run the commands in this process.
  func runner(
    on workers: FlowWorkersOpener?, _ processes: FlowProcesses
  ) async throws -> any FlowRunner {
    var sent = try await journal.sentCommands().filter { !others.contains($0.run) }
    guard let workers else {
      try await leave(sent)
      return FlowLocalRunner(log: checker.log, processes: processes)
    }
    let store = try await workers()
    do {
      let commands = try await FlowSentCommands(to: store, journal, report: report)
      let elsewhere = sent.filter { $0.place != store.place }
      try await leave(elsewhere)
      sent = sent.filter { $0.place == store.place }
      let continued = sent.filter { plan.canContinue($0, checker) }
      try await commands.stop(sent.filter { !continued.contains($0) })
      if !continued.isEmpty {
        report("continuing with \(continued.count.counted("command")) on the workers")
      }
      return FlowRemoteRunner(commands, checker, continuing: continued)
    } catch {
      await store.close()
      throw error
    }
  }

  /// Removes commands in a store that this process does not use from the journal, if the user
  /// permits it.
  private func leave(_ commands: [FlowSentCommand]) async throws {
    guard let first = commands.first else { return }
    let count = commands.count.counted("command")
    guard isFresh else {
      throw FlowFailure.other(
        "\(count) of run \(first.run) may be running on the workers of \(first.place); add --on with "
          + "that address, or --fresh, which leaves \(commands.count == 1 ? "it" : "them") running")
    }
    report("leaving \(count) of run \(first.run) on the workers of \(first.place)")
    try await journal.removeCommands(commands.map(\.number))
  }
}

extension FlowPlan {
  /// Whether the result of a command of an earlier process may count for this run: its step runs now,
  /// and nothing that it needs has changed or runs again. When it begins, ``FlowLaunch/basis`` decides.
  func canContinue(_ command: FlowSentCommand, _ checker: FlowChecker) -> Bool {
    let name = command.unit.stepName
    guard checker.runs.contains(command.run),
      let step = checker.file.step(named: name), decisions[name]?.isSettled == false,
      checker.definitions[name]?.hasSameBytes(as: command.definition) == true,
      command.succeeded == checker.records[ExactText(command.unit)]?.number ?? 0,
      let unit = step.units(children[name]).first(where: {
        ExactText($0.name) == ExactText(command.unit)
      })
    else { return false }
    let (needs, after) = checker.file.beginningDependencies(of: step)
    guard (needs + after).allSatisfy({ decisions[$0]?.isSettled == true }) else { return false }
    var numbers = needs.compactMap { state(of: $0)?.made.number }
    var next = step
    while case .sameAs(let reference) = next.each,
      let source = checker.file.step(named: reference.name)
    {
      let unit = FlowUnit(step: source, each: unit.each)
      guard let record = checker.record(of: unit), checker.hasSucceededInRun(unit),
        checker.hasSameDefinition(unit)
      else { return false }
      numbers.append(record.made)
      next = source
    }
    return numbers.allSatisfy { $0 <= command.began }
  }
}
