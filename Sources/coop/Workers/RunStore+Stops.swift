import CompositeOperations
import DurableOperations

// Requests for runs of commands. A cancellation in the store would not do: it ends the run at once,
// while the command of the run may still be running.
extension RunStore {
  /// The event that asks a run to end its command.
  static let stopEvent = "stop"

  /// Waits until a command is asked to end.
  func waitForStop(of id: RunID) async throws {
    while true {
      let waiter = backend.changes.register(for: [.event(id, Self.stopEvent)])
      defer { backend.changes.remove(waiter) }
      try Task.checkCancellation()
      if try await isAskedToStop(id) { return }
      await waiter.wait()
    }
  }

  func isAskedToStop(_ id: RunID) async throws -> Bool {
    while true {
      do { return try await backend.event(Self.stopEvent, of: id) != nil } catch let error
        as RunStoreError where error.isTemporary
      {
        // The engine cancels this task if the store is not reachable for too long.
        try await Task.sleep(for: .milliseconds(500))
      }
    }
  }

  /// Ends a command, and waits until it has ended.
  ///
  /// - Returns: Whether it has ended.
  func stop(_ id: RunID, within limit: Duration) async -> Bool {
    let end = ContinuousClock.now + limit
    while ContinuousClock.now < end {
      do {
        try await askToStop(id)
        if try await waitForEnd(of: id, until: end) { return true }
      } catch let error as RunStoreError where error.reason == .noSuchRun {
        return true
      } catch {
        // The store may work again soon.
        try? await Task.sleep(for: .milliseconds(500))
      }
    }
    // No worker must begin it later.
    try? await cancel(id, because: "its flow has ended")
    return false
  }

  private func askToStop(_ id: RunID) async throws {
    do { try await send(true, as: Self.stopEvent, to: id) } catch let error as RunStoreError
      where error.reason == .wrongState
    {
      return
    }
    guard let run = try await summary(of: id) else { return }
    switch run.state {
    // A worker that claims it from here on sees the event before it begins the command.
    case .ready, .parked:
      if try await !mayHaveBegun(run) { try await cancel(id, because: "its flow has ended") }
    case .stuck: try await cancel(id, because: "its flow has ended")
    case .running, .interrupted, .result, .error, .cancelled: break
    }
  }

  /// Whether a worker has claimed a run, and may have begun its command.
  func mayHaveBegun(_ run: RunSummary) async throws -> Bool {
    if run.state == .running || run.state == .interrupted || run.attempt > 0 { return true }
    // A stored process is progress, after which the claims are counted anew.
    return try await self.run(run.id)?.steps.isEmpty == false
  }

  /// - Returns: Whether the run has ended.
  private func waitForEnd(
    of id: RunID, until end: ContinuousClock.Instant
  ) async throws -> Bool {
    try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask {
        while true {
          let waiter = backend.changes.register(for: [.run(id)])
          defer { backend.changes.remove(waiter) }
          try Task.checkCancellation()
          guard let run = try await summary(of: id) else { return true }
          if run.state.hasEnded { return true }
          await waiter.wait()
        }
      }
      group.addTask {
        try await Task.sleep(until: end)
        return false
      }
      defer { group.cancelAll() }
      return try await group.next() ?? false
    }
  }
}
