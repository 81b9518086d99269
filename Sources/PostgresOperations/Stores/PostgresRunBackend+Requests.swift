internal import CompositeOperations
internal import DurableOperations
internal import SystemSupport

// The requests that come from outside of a run. Each is one transaction.
extension PostgresRunBackend {
  func cancel(_ id: RunID, because reason: String?) async throws {
    let (name, requests) = (queue.name, queue.requests)
    let reason = reason.map(reasonJSON)
    guard try await stored(id) != nil else { throw RunStoreError.noSuchRun(id) }
    let cancelled = try await request { connection in
      try connection.transaction { () -> [RunID] in
        let runs = try connection.rows(requests.tree, [.texts([id.text])])
        // A failed task has no attempt that could be cancelled.
        let rows = (0..<runs.count).filter { runs.text($0, 3) != "failed" }
        for row in rows {
          let task = PostgresValue.text(runs.text(row, 1) ?? "")
          if let reason {
            let attempt = PostgresValue.text(runs.text(row, 2) ?? "")
            _ = try connection.rows(
              requests.setReason, [.text(name), task, attempt, .text(reason)])
          }
          _ = try connection.rows(requests.cancel, [.text(name), task])
          if runs.text(row, 4) != nil {
            let end = AbsurdName.end(of: RunID(runs.text(row, 0) ?? ""))
            _ = try connection.rows(requests.emit, [.text(name), .text(end), .text("null")])
          }
        }
        return rows.map { RunID(runs.text($0, 0) ?? "") }
      }
    }
    let running = Set(changes.runningRuns)
    for id in cancelled where running.contains(id) { changes.cancelTask(of: id) }
    changes.notify([.ready, .run(id)] + cancelled.map { .run($0) })
  }

  func send(
    _ payload: String, as event: String, to id: RunID, replacing replaces: Bool
  ) async throws -> Bool {
    guard let found = try await stored(id) else { throw RunStoreError.noSuchRun(id) }
    let mayBeForRetry = replaces && found.run.state == .error
    if found.run.state.hasEnded, !mayBeForRetry { throw RunStoreError.hasEnded(found.run) }
    let name = PostgresValue.text(AbsurdName.event(event, of: id))
    let values: [PostgresValue] = [.text(queue.name), name, .text(texts.stored(payload))]
    let (requests, task) = (queue.requests, PostgresValue.text(found.taskID))
    let isRepeated = Lock(false)
    let counts = try await request { connection in
      // After a lost reply, the event may be there already.
      let mayBeDone = isRepeated.withLock { exchange(&$0, with: true) }
      do {
        return try connection.transaction {
          // Others that send an event to the run wait.
          let locked = try connection.rows(requests.lockTask, [.text(id.text)])
          let attempt = locked.count > 0 ? locked.text(0, 1) ?? "" : found.attemptID
          // Another program may have retried it.
          let isForRetry = mayBeForRetry && locked.count > 0 && locked.boolean(0, 3) == true
          let removed =
            replaces
            ? try connection.rows(
              requests.removeEvent, [name, task, .text(event), .text("\(isForRetry)")]) : nil
          let earlier = try connection.rows(requests.isEvent, [name, values[2]])
          if isForRetry, removed?.count == 0, earlier.count == 0 {
            throw RunStoreError.hasEnded(found.run)
          }
          _ = try connection.rows(requests.emit, values)
          if let removed, removed.count > 0 {
            let sent = PostgresValue.text(removed.text(0, 0) ?? "")
            _ = try connection.rows(requests.setSent, [name, sent])
          }
          // An event that came in time has made the run ready.
          let late = try connection.rows(requests.isTooLate, [.text(attempt), name])
          if late.count > 0 { throw LateEvent() }
          return earlier.count == 0 || mayBeDone && earlier.boolean(0, 0) == true
        }
      } catch is LateEvent {
        return false
      }
    }
    if counts { changes.notify([.ready, .run(id), .event(id, event)]) }
    return counts
  }

  /// Undoes what the sending of an event has done.
  private struct LateEvent: Error {}

  // MARK: Retries

  func retry(_ id: RunID, from step: Int?) async throws {
    guard let found = try await stored(id) else { throw RunStoreError.noSuchRun(id) }
    let steps = try await steps(of: id, last: nil)
    let retry = try RunRetry(of: found.run, from: step, last: steps.last)
    if retry.first > 0, !steps.contains(where: { $0.position == retry.first - 1 }) {
      throw retry.error(oldest: steps.first?.position)
    }
    let (name, requests, texts) = (queue.name, queue.requests, texts)
    let isRepeated = Lock(false)
    try await request { connection in
      let mayBeDone = isRepeated.withLock { isRepeated in
        defer { isRepeated = true }
        return isRepeated
      }
      try connection.transaction {
        let locked = try connection.rows(requests.lockTask, [.text(id.text)])
        guard locked.count > 0, locked.text(0, 0) == found.taskID,
          locked.text(0, 1) == found.attemptID
        else {
          // After a lost reply, another task or attempt is the effect of this retry.
          if mayBeDone { return }
          throw RunStoreError(
            .busy, "run \(id) was changed by another process at the same time; try again")
        }
        if found.run.state.hasEnded {
          try Self.begin(connection, again: found, retry, name, requests, texts)
        } else {
          try Self.resume(connection, found, retry, name, requests)
        }
      }
    }
    changes.notify([.ready, .run(id)])
  }

  /// Makes a waiting or stuck run due, without some of its steps.
  private static func resume(
    _ connection: PostgresConnection, _ found: AbsurdRun, _ retry: RunRetry, _ queue: String,
    _ requests: RequestStatements
  ) throws {
    let task = PostgresValue.text(found.taskID)
    let first = PostgresValue.text(AbsurdName.checkpoint(of: retry.first))
    _ = try connection.rows(
      requests.removeSteps, [task, first, .text(retry.keepsKeys ? "false" : "true")])
    // The parent of a stuck child has been informed of its end.
    _ = try connection.rows(requests.removeEvents, [.text(AbsurdName.end(of: retry.id))])
    var attempt = PostgresValue.text(found.attemptID)
    if found.attemptState == "failed" {
      let rows = try connection.rows(requests.retry, [.text(queue), task])
      attempt = .text(rows.text(0, 0) ?? "")
    } else {
      _ = try connection.rows(requests.makeDue, [attempt, task])
    }
    let fence = #"{"fence":\#(found.run.fence)}"#
    _ = try connection.rows(requests.setRetried, [.text(queue), task, attempt, .text(fence)])
  }

  /// Begins an ended run again, with its first steps, as a new task in place of the old one.
  private static func begin(
    _ connection: PostgresConnection, again found: AbsurdRun, _ retry: RunRetry, _ queue: String,
    _ requests: RequestStatements, _ texts: AbsurdText
  ) throws {
    let first = PostgresValue.text(AbsurdName.checkpoint(of: retry.first))
    let steps = try connection.rows(requests.copySteps, [.text(found.taskID), first])
    _ = try connection.rows(requests.removeTask, [.text(found.taskID)])
    _ = try connection.rows(requests.removeEvents, [.text(AbsurdName.end(of: retry.id))])
    let options = Self.options(
      of: found.run.id, parent: found.run.parent,
      // A new span, because the one of the ended run may have been exported.
      trace: RunTrace(below: found.run.trace), start: found.start ?? "", attempts: found.run.fence)
    let state = #"{"state":\#(texts.stored(found.run.initial))}"#
    let spawned = try connection.rows(
      requests.spawn, [.text(queue), .text(found.run.flow), .text(state), .text(options)])
    let (task, attempt) = (spawned.text(0, 0) ?? "", spawned.text(0, 1) ?? "")
    for row in 0..<steps.count {
      _ = try connection.rows(
        requests.setStep,
        [
          .text(queue), .text(task), .text(attempt), .text(steps.text(row, 0) ?? ""),
          .text(steps.text(row, 1) ?? "null"),
        ])
    }
  }

  // MARK: Deletion

  func forget(_ id: RunID) async throws {
    guard let found = try await stored(id) else { throw RunStoreError.noSuchRun(id) }
    guard found.run.state.hasEnded else { throw RunStoreError.hasNotEnded(found.run) }
    let requests = queue.requests
    try await request { connection in
      try connection.transaction {
        let child = try connection.rows(requests.openChild, [.texts([id.text])])
        if child.count > 0 { throw RunStoreError.hasOpenChild(id, child.text(0, 0) ?? "") }
        _ = try connection.rows(requests.remove, [.texts([id.text])])
      }
    }
  }

  func forget(olderThan age: Int64) async throws -> Int {
    let requests = queue.requests
    return try await request { connection in
      try connection.transaction {
        let ended = try connection.rows(requests.ended, [.integer(Self.delay(from: 0, to: age))])
        let names = (0..<ended.count).compactMap { ended.text($0, 0) }
        if !names.isEmpty { _ = try connection.rows(requests.remove, [.texts(names)]) }
        return names.count
      }
    }
  }

  /// Absurd deletes old tasks itself, by the policy of the queue.
  func tidy(olderThan age: Int64) async throws -> Int { 0 }
}
