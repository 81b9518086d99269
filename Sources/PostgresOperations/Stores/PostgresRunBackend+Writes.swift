internal import CompositeOperations
internal import DurableOperations
internal import SystemSupport

// Writes of the process that runs a run.
extension PostgresRunBackend {
  func append(
    _ step: StoredStep, dropping dropped: Range<Int>, hasKeys: Bool, by token: ClaimToken
  ) async throws {
    let claim = try held.claim(token)
    let name = AbsurdName.checkpoint(of: step.position)
    let values = setting(step, name, by: claim)
    if dropped.isEmpty, !hasKeys { return try await write(queue.claims.set, values, by: claim) }
    try await write(
      queue.claims.setAndRemove,
      values + [
        .texts(dropped.map { AbsurdName.checkpoint(of: $0) }),
        // A text that no name begins with, if there are no keys.
        .text(hasKeys ? name + "/" : "-"),
      ], by: claim)
  }

  func store(key step: StoredStep, by token: ClaimToken) async throws {
    let claim = try held.claim(token)
    let name = AbsurdName.checkpoint(of: step.position, key: step.key)
    try await write(queue.claims.set, setting(step, name, by: claim), by: claim)
  }

  private func setting(
    _ step: StoredStep, _ name: String, by claim: HeldClaim
  ) -> [PostgresValue] {
    let state = step.checkpoint(
      fence: claim.token.fence, worker: WorkerName.process(of: claim.worker), texts)
    return parameters(of: claim) + [.text(name), .text(state), .integer(leaseSeconds)]
  }

  private func parameters(of claim: HeldClaim) -> [PostgresValue] {
    [.text(queue.name), .text(claim.attemptID), .text(claim.worker)]
  }

  func removeKeys(by token: ClaimToken) async throws {
    let claim = try held.claim(token)
    try await write(queue.claims.removeKeys, parameters(of: claim), by: claim)
  }

  // MARK: Ends of claims

  func end(
    by token: ClaimToken, _ outcome: String?, as state: RunState, sequence: String?
  ) async throws {
    let claim = try held.claim(token)
    var payload = JSONWriter()
    payload.object { json in
      json.member("kind", state.rawValue)
      if let outcome {
        json.name("value")
        json.literal(texts.stored(outcome))
      }
      if let sequence {
        json.name("sequence")
        json.literal(texts.stored(sequence))
      }
    }
    let event: PostgresValue = token.parent == nil ? .null : .text(AbsurdName.end(of: token.run))
    try await write(
      queue.claims.complete, parameters(of: claim) + [.text(payload.text), event], by: claim
    ) { state in state.attempt == "completed" && state.worker == claim.worker }
    released(claim)
  }

  func release(by token: ClaimToken, asFailed hasFailed: Bool) async throws {
    let claim = try held.claim(token)
    // It then waits until its lease has expired.
    defer { held.remove(claim) }
    if hasFailed {
      // Twice as long each time; the next claim after the last one marks the run as stuck.
      let delay =
        claim.claims < Self.mostClaims
        ? min(Int64(100) << Int64(min(max(claim.claims - 1, 0), 7)), 10_000) : 0
      try await write(
        queue.claims.fail, parameters(of: claim) + [.integer(delay)], by: claim
      ) { $0.attempt == "failed" }
    } else {
      try await schedule(claim, after: 0)
    }
    released(claim)
  }

  /// The longest wait, in milliseconds: 100 years.
  private static let longestDelay: Int64 = 3_155_760_000_000

  /// Makes the run due after a delay in milliseconds.
  private func schedule(_ claim: HeldClaim, after delay: Int64) async throws {
    try await write(
      queue.claims.schedule, parameters(of: claim) + [.integer(delay)], by: claim
    ) { $0.attempt != "failed" }
  }

  /// The milliseconds between two times, at least 0 and at most ``longestDelay``.
  static func delay(from start: Int64, to end: Int64) -> Int64 {
    let (delay, overflow) = end.subtractingReportingOverflow(start)
    return overflow ? longestDelay : min(max(0, delay), longestDelay)
  }

  private func released(_ claim: HeldClaim) {
    held.remove(claim)
    changes.notify([.ready, .run(claim.token.run)] + (claim.token.parent.map { [.run($0)] } ?? []))
  }

  func park(by token: ClaimToken, until wake: Int64?, event: String?) async throws {
    let claim = try held.claim(token)
    if let event {
      try await wait(for: AbsurdName.event(event, of: token.run), until: wake, claim)
    } else {
      try await schedule(claim, after: Self.delay(from: now, to: wake ?? .max))
    }
    released(claim)
  }

  /// Parks the run until an event or a time. If the event has come, the run is due at once.
  private func wait(for event: String, until wake: Int64?, _ claim: HeldClaim) async throws {
    let seconds = wake.map { min(Int64(Int32.max), (Self.delay(from: now, to: $0) + 999) / 1_000) }
    let (claims, parameters) = (queue.claims, parameters(of: claim))
    let wait = parameters + waiting(for: event, by: claim, atMost: seconds)
    try await transaction(by: claim) { connection in
      _ = try connection.rows(claims.removeWaits, Array(parameters.dropFirst()))
      while true {
        let rows = try connection.rows(claims.await, wait)
        guard rows.count > 0 else { throw InvalidClaim() }
        if rows.boolean(0, 0) == true { return }
        if rows.boolean(0, 1) == true {
          _ = try connection.rows(claims.schedule, parameters + [.integer(0)])
          return
        }
        // The engine has reported the end of an earlier wait for the same event.
      }
    }
  }

  /// The parameters of a wait. The engine keeps the payload of an event in a checkpoint, whose name no
  /// other wait has.
  private func waiting(
    for event: String, by claim: HeldClaim, atMost seconds: Int64?
  ) -> [PostgresValue] {
    [
      .text("\(AbsurdName.wait)/\(claim.worker)"), .text(event),
      seconds.map { .integer($0) } ?? .null,
    ]
  }

  func markStuck(by token: ClaimToken, because reason: String) async throws {
    let claim = try held.claim(token)
    let (name, claims, requests) = (queue.name, queue.claims, queue.requests)
    let cause = reasonJSON(reason)
    let event = AbsurdName.retry(of: token.run, claim.worker.replacing("/", with: "-"))
    let wait = parameters(of: claim) + waiting(for: event, by: claim, atMost: nil)
    try await transaction(by: claim) { connection in
      if token.parent != nil {
        let end = AbsurdName.end(of: token.run)
        _ = try connection.rows(requests.emit, [.text(name), .text(end), .text("null")])
      }
      _ = try connection.rows(
        requests.setReason,
        [.text(name), .text(claim.taskID), .text(claim.attemptID), .text(cause)])
      if try connection.rows(claims.await, wait).count == 0 { throw InvalidClaim() }
    }
    released(claim)
  }

  /// Ends a transaction of a claim that is not valid any more.
  private struct InvalidClaim: Error {}

  /// Makes the writes that end a claim, in one transaction, and repeats them while the server cannot
  /// be reached.
  private func transaction(
    by claim: HeldClaim, _ body: @escaping @Sendable (PostgresConnection) throws -> Void
  ) async throws {
    try await written(by: claim) {
      do {
        try await pool.run { connection in try connection.transaction { try body(connection) } }
        return true
      } catch is InvalidClaim {
        return false
      }
    } isDone: {
      $0.attempt != "failed" && $0.worker != claim.worker
    }
  }

  func reasonJSON(_ reason: String) -> String {
    var json = JSONWriter()
    json.object { $0.member("text", AbsurdText.withoutNull(reason)) }
    return json.text
  }

  // MARK: Claims that may be invalid

  /// How long a write of a claim is repeated while the server cannot be reached.
  private var patience: Duration { lease * 2 / 3 }

  /// The state of a claim in the database.
  struct ClaimState {
    let attempt, task, worker, reason: String
  }

  /// Makes a write of a claim, and repeats it while the server cannot be reached.
  ///
  /// - Parameters:
  ///   - values: The parameters; the statement returns 0 or 1, the number of valid claims.
  ///   - isDone: Whether the state shows that an earlier attempt, whose reply was lost, has made the
  ///     write.
  /// - Throws: A ``DurableRunError`` or a ``RunStoreError``.
  private func write(
    _ statement: PostgresStatement, _ values: [PostgresValue], by claim: HeldClaim,
    isDone: (ClaimState) -> Bool = { _ in false }
  ) async throws {
    let time = ContinuousClock.now
    try await written(by: claim) {
      try await pool.rows(statement, values, order: claim.token.run.text).integer(0, 0) == 1
    } isDone: {
      isDone($0)
    }
    held.extended(claim, at: time)
  }

  /// - Parameter body: Makes the write; false if the claim is not valid.
  private func written(
    by claim: HeldClaim, _ body: () async throws -> Bool, isDone: (ClaimState) -> Bool
  ) async throws {
    var wasLost = false
    let isWritten = try await repeated(for: patience) {
      do { return try await body() } catch let error as PostgresError {
        if error.kind == .lost { wasLost = true }
        // The engine reports a cancellation or a later attempt by these codes.
        if error.kind == .refused, error.code.hasPrefix("AB00") { return false }
        throw error
      }
    }
    if isWritten { return }
    if wasLost, let state = try await state(of: claim), isDone(state) { return }
    throw try await invalid(claim)
      ?? DurableRunError(claim.token.run, .taken(fence: claim.token.fence))
  }

  /// Forgets a claim that is not valid any more.
  ///
  /// - Returns: A ``DurableRunError``; nil if the claim is valid.
  private func invalid(_ claim: HeldClaim) async throws -> (any Error)? {
    guard let state = try await state(of: claim) else {
      held.remove(claim)
      return DurableRunError(claim.token.run, .taken(fence: claim.token.fence))
    }
    if state.task == "cancelled" {
      held.remove(claim)
      return DurableRunError(
        claim.token.run, .cancelled(because: state.reason.isEmpty ? nil : state.reason))
    }
    if state.attempt == "running", state.worker == claim.worker { return nil }
    held.remove(claim)
    return DurableRunError(claim.token.run, .taken(fence: claim.token.fence))
  }

  private func state(of claim: HeldClaim) async throws -> ClaimState? {
    let read = queue.claims.state
    let rows = try await request { try $0.rows(read, [.text(claim.attemptID)]) }
    guard rows.count > 0 else { return nil }
    func text(_ column: Int) -> String { rows.text(0, column) ?? "" }
    return ClaimState(attempt: text(0), task: text(1), worker: text(2), reason: text(3))
  }
}
