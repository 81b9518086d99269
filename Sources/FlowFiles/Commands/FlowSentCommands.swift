import SystemSupport

/// Opens the store of the workers.
package typealias FlowWorkersOpener = @Sendable () async throws -> any FlowWorkers

/// The commands that a flow has given to workers.
struct FlowSentCommands: Sendable {
  let workers: any FlowWorkers
  let journal: FlowJournal
  /// See ``FlowJournal/identity()``.
  private let identity: String
  private let report: @Sendable (String) -> Void

  /// - Parameter report: Reports a line for the user.
  init(
    to workers: any FlowWorkers, _ journal: FlowJournal,
    report: @escaping @Sendable (String) -> Void
  ) async throws {
    (self.workers, self.journal, self.report) = (workers, journal, report)
    identity = try await journal.identity()
  }

  func id(_ command: FlowSentCommand) -> String {
    command.id(flow: journal.flow, journal: identity)
  }

  /// See ``FlowWorkers/result(of:for:_:report:)``.
  func result(
    of command: FlowSentCommand, _ launch: FlowLaunch
  ) async throws -> FlowCommandResult? {
    try await workers.result(of: id(command), for: command.unit, launch, report: report)
  }

  /// See ``FlowWorkers/storedResult(of:)``.
  func storedResult(of command: FlowSentCommand) async -> FlowCommandResult? {
    await workers.storedResult(of: id(command))
  }

  /// Ends a command, and waits until it has ended.
  ///
  /// - Returns: Whether it has ended.
  func stop(_ command: FlowSentCommand) async -> Bool {
    if await workers.stop(id(command)) { return true }
    report(
      "the command of '\(command.unit.onOneLine)' may still be running: no worker of "
        + "\(workers.place) has confirmed its end")
    return false
  }

  /// Ends commands of an earlier process, and removes them from the journal.
  func stop(_ commands: [FlowSentCommand]) async throws {
    if commands.isEmpty { return }
    report("ending \(commands.count.counted("command")) of an earlier run on the workers")
    let ended = await withTaskGroup(of: Int?.self) { group in
      for command in commands {
        group.addTask { await stop(command) ? command.number : nil }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    try await journal.removeCommands(ended.compactMap(\.self))
  }
}
