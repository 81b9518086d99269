import CompositeOperations
import DurableOperations
import Foundation
import SystemSupport

/// The store of the workers, as a flow uses it for its commands.
struct FlowCommandStore: Sendable {
  /// How long the end of a command is awaited: its worker may have died, and another one takes its
  /// place after the lease of 30 seconds.
  private static let longestStop = Duration.seconds(60)
  /// After which time without a worker a notice says so.
  private static let longestClaim = Duration.seconds(5)

  let store: RunStore
  let journal: FlowJournal
  /// See ``FlowJournal/identity()``.
  private let identity: String
  private let report: @Sendable (String) -> Void
  private let notices = FlowNotices()

  /// - Parameter report: Reports a line for the user.
  /// - Throws: The error of the store, which does not contain the password.
  init(
    _ store: RunStore, _ journal: FlowJournal, report: @escaping @Sendable (String) -> Void
  ) async throws {
    self.store = store
    self.journal = journal
    self.report = report
    identity = try await journal.identity()
    // A problem of the store is an error before any step begins.
    _ = try await store.runs(limit: 1)
  }

  /// The address without its password, and the queue.
  var place: String { store.backend.location }

  func id(_ command: FlowSentCommand) -> RunID {
    command.id(flow: journal.flow, journal: identity)
  }

  // MARK: Running

  /// Gives a command to the workers, unless that was done before, and waits for its end.
  ///
  /// - Throws: A `RunExistsError` if the run of the command has another command; the error of the
  ///   store; `CancellationError`.
  func outcome(
    of command: FlowSentCommand, _ launch: FlowLaunch
  ) async throws -> Outcome<FinishedSteps> {
    let id = id(command)
    while true {
      do {
        let run = try await store.start(FlowCommandRun(launch: launch, id: id), named: id)
        async let _ = sayIfUnclaimed(command)
        return try await run.outcome
      } catch let error as RunStoreError where error.isTemporary {
        if notices.isFirst("store") { report("\(error.description.onOneLine); trying again") }
        try await Task.sleep(for: .seconds(1))
      }
    }
  }

  /// Says once that no worker has claimed a command.
  private func sayIfUnclaimed(_ command: FlowSentCommand) async {
    do { try await Task.sleep(for: Self.longestClaim) } catch { return }
    guard let run = try? await store.summary(of: id(command)), !run.state.hasEnded,
      (try? await store.mayHaveBegun(run)) == false,
      // Workers that have no free slot will claim it.
      (try? await store.runs(of: FlowCommandRun.flowName, in: [.running], limit: 1))?.isEmpty
        ?? false,
      notices.isFirst("claim")
    else { return }
    report(
      "no worker of \(place) has claimed '\(command.unit.onOneLine)' for "
        + "\(Self.longestClaim.readableTime); start one with: coop worker ADDRESS --commands")
  }

  // MARK: Stopping

  /// Ends a command, and waits until it has ended.
  ///
  /// - Returns: Whether it has ended within a minute.
  func stop(_ command: FlowSentCommand) async -> Bool {
    if await store.stop(id(command), within: Self.longestStop) { return true }
    report(
      "the command of '\(command.unit.onOneLine)' may still be running: no worker of \(place) has "
        + "confirmed its end")
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

  /// Returns the result of a command that was ended; nil if it had not begun.
  func storedResult(of command: FlowSentCommand) async -> FlowCommandResult? {
    let steps = try? await store.run(id(command))?.steps
    guard let step = steps?.first(where: { $0.kind == .result && $0.key.isEmpty }),
      let value = step.value
    else { return nil }
    return try? store.backend.options.coder.decode(FlowCommandResult.self, from: value)
  }
}

/// What was said to the user, because each notice is printed once.
private final class FlowNotices: Sendable {
  private let said = Lock<Set<String>>([])

  func isFirst(_ notice: String) -> Bool { said.withLock { $0.insert(notice).inserted } }
}
