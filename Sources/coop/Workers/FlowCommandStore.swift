import CompositeOperations
import DurableOperations
import FlowFiles
import Foundation
import SystemSupport

/// The workers of a store, as a flow uses them for its commands.
struct FlowCommandStore: FlowWorkers {
  /// How long the end of a command is awaited: its worker may have died, and another one takes its
  /// place after the lease of 30 seconds.
  private static let longestStop = Duration.seconds(60)
  /// After which time without a worker a notice says so.
  private static let longestClaim = Duration.seconds(5)

  private let store: RunStore
  private let notices = FlowNotices()

  /// - Throws: The error of the store, which does not contain the password.
  init(_ store: RunStore) async throws {
    self.store = store
    do {
      // A problem of the store is an error before any step begins.
      _ = try await store.runs(limit: 1)
    } catch {
      await store.close()
      throw error
    }
  }

  /// The address without its password, and the queue.
  var place: String { store.backend.location }

  var mostLineBytes: Int { RunFlowCommand.mostLineBytes }

  func close() async { await store.close() }

  func result(
    of id: String, for unit: String, _ launch: FlowLaunch,
    report: @escaping @Sendable (String) -> Void
  ) async throws -> FlowCommandResult? {
    let id = RunID(id)
    switch try await outcome(of: id, for: unit, launch, report: report) {
    case .result(let steps):
      if let result = steps.last?.result(of: RunFlowCommand.self) { return result }
      throw FlowFailure.other("run \(id) has no result")
    case .error(let error):
      throw FlowFailure.other("\((error as? SequentialOperationError)?.cause ?? error)")
    case .cancelled: return nil
    }
  }

  private func outcome(
    of id: RunID, for unit: String, _ launch: FlowLaunch,
    report: @escaping @Sendable (String) -> Void
  ) async throws -> Outcome<FinishedSteps> {
    while true {
      do {
        let run = try await store.start(FlowCommandRun(launch: launch, id: id), named: id)
        async let _ = sayIfUnclaimed(id, for: unit, report: report)
        // Only a worker has what a command needs.
        return try await run.outcome(continuing: false)
      } catch let error as RunStoreError where error.isTemporary {
        if notices.isFirst("store") { report("\(error.description.onOneLine); trying again") }
        try await Task.sleep(for: .seconds(1))
      } catch let error as DurableRunError where error.isNameInUse {
        throw FlowCommandExistsError()
      }
    }
  }

  /// Says once that no worker has claimed a command.
  private func sayIfUnclaimed(
    _ id: RunID, for unit: String, report: @Sendable (String) -> Void
  ) async {
    do { try await Task.sleep(for: Self.longestClaim) } catch { return }
    guard let run = try? await store.summary(of: id), !run.state.hasEnded,
      (try? await store.mayHaveBegun(run)) == false,
      // Workers that have no free slot will claim it.
      (try? await store.runs(of: FlowCommandRun.flowName, in: [.running], limit: 1))?.isEmpty
        ?? false,
      notices.isFirst("claim")
    else { return }
    report(
      "no worker of \(place) has claimed '\(unit.onOneLine)' for "
        + "\(Self.longestClaim.readableTime); start one with: coop worker ADDRESS --commands")
  }

  func stop(_ id: String) async -> Bool {
    await store.stop(RunID(id), within: Self.longestStop)
  }

  func storedResult(of id: String) async -> FlowCommandResult? {
    let steps = try? await store.run(RunID(id))?.steps
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
