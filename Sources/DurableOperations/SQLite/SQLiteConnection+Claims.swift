internal import SQLiteSupport

// The statements about claims and their ends. Each function is a part of a transaction.
extension SQLiteConnection {
  /// The most claims without a finished step.
  private static let mostClaims: Int64 = 10

  /// Claims due runs, in the order of their wake times.
  func claim(flows: String, limit: Int, owner: Int64, now: Int64) throws -> [StoredRun] {
    let claimed = try fetchAll(
      """
      UPDATE run
      SET state = 'running', owner = ?1, fence = fence + 1, claims = claims + 1, wake = NULL,
        event = NULL, updated = ?2
      WHERE id IN
        (SELECT id FROM run WHERE state IN ('ready', 'parked') AND wake <= ?2
          AND claims < \(Self.mostClaims) AND flow IN (SELECT value FROM json_each(?3))
          ORDER BY wake LIMIT ?4)
      RETURNING \(Self.runColumns)
      """,
      [.integer(owner), .integer(now), .text(flows), .integer(Int64(limit))], StoredRun.init)
    // Only if few runs are left, because this reads every due run.
    if claimed.count < limit {
      try markExhaustedStuck(
        "flow IN (SELECT value FROM json_each(?2))", .text(flows), now: now)
    }
    return claimed
  }

  /// Claims one run that is due.
  ///
  /// - Returns: Nil if it cannot be claimed.
  func claim(_ id: RunID, owner: Int64, now: Int64) throws -> StoredRun? {
    try markExhaustedStuck("id = ?2", .text(id.text), now: now)
    return try fetchOne(
      """
      UPDATE run
      SET state = 'running', owner = ?1, fence = fence + 1, claims = claims + 1, wake = NULL,
        event = NULL, updated = ?2
      WHERE id = ?3 AND state IN ('ready', 'parked') AND wake <= ?2 RETURNING \(Self.runColumns)
      """, [.integer(owner), .integer(now), .text(id.text)], StoredRun.init)
  }

  /// Marks the due runs stuck that have been claimed too often.
  ///
  /// - Parameters:
  ///   - condition: Which runs, by the parameter 2.
  ///   - value: The value of the parameter.
  private func markExhaustedStuck(
    _ condition: String, _ value: SQLiteValue, now: Int64
  ) throws {
    try execute(
      """
      UPDATE run
      SET state = 'stuck', wake = NULL, event = NULL, updated = ?1,
        reason = claims || ' claims in a row have not finished step '
          || ifnull((SELECT max(position) + 1 FROM step WHERE run = id AND key = ''), 0)
          || ': the process ended, or the store failed, each time'
      WHERE \(condition) AND state IN ('ready', 'parked') AND wake <= ?1
        AND claims >= \(Self.mostClaims)
      """, [.integer(now), value])
  }

  func nextWake(flows: String) throws -> Int64? {
    try fetchOne(
      """
      SELECT min(wake) FROM run WHERE state IN ('ready', 'parked')
        AND flow IN (SELECT value FROM json_each(?1))
      """, [.text(flows)]
    ) { $0.isNull(at: 0) ? nil : $0.integer(at: 0) } ?? nil
  }

  /// The numbers of the owners of running runs.
  var owners: [Int64] {
    get throws {
      try fetchAll("SELECT DISTINCT owner FROM run WHERE state = 'running' AND owner IS NOT NULL") {
        $0.integer(at: 0)
      }
    }
  }

  /// The numbers of all processes that are registered, alive or not.
  var registeredOwners: [Int64] {
    get throws { try fetchAll("SELECT number FROM owner") { $0.integer(at: 0) } }
  }

  func makeRunsReady(ofOwner number: Int64, now: Int64) throws {
    let ids = try fetchAll(
      """
      UPDATE run SET state = 'ready', owner = NULL, wake = ?2, updated = ?2
      WHERE owner = ?1 AND state = 'running' RETURNING id
      """, [.integer(number), .integer(now)]
    ) { RunID($0.text(at: 0) ?? "") }
    for id in ids { _ = try wakeParents(of: id, now: now) }
    try execute("DELETE FROM owner WHERE number = ?1", [.integer(number)])
  }

  /// The running runs whose cancellation was requested.
  var cancelledRuns: [RunID] {
    get throws {
      try fetchAll("SELECT id FROM run WHERE state = 'running' AND cancelled IS NOT NULL") {
        RunID($0.text(at: 0) ?? "")
      }
    }
  }

  // MARK: Ends of claims

  /// Checks that a claim is valid.
  ///
  /// - Throws: A ``RunTakenError`` or a ``RunCancelledError``.
  func check(_ claim: ClaimToken) throws {
    let row = try fetchOne(
      "SELECT state, fence, cancelled IS NOT NULL, reason FROM run WHERE id = ?1",
      [.text(claim.run.text)]
    ) { row in
      ClaimState(
        isRunning: row.text(at: 0) == RunState.running.rawValue, fence: row.integer(at: 1),
        isCancelled: row.integer(at: 2) != 0, reason: row.text(at: 3))
    }
    guard let row, row.isRunning, row.fence == claim.fence else {
      throw RunTakenError(run: claim.run, fence: claim.fence)
    }
    if row.isCancelled { throw RunCancelledError(run: claim.run, reason: row.reason) }
  }

  private struct ClaimState {
    let isRunning: Bool
    let fence: Int64
    let isCancelled: Bool
    let reason: String?
  }

  /// Parks a run.
  ///
  /// The run is ready instead if its event has come, or its child can be claimed or has ended.
  ///
  /// - Returns: Its parents that waited for it, the nearest first.
  func park(
    by claim: ClaimToken, until wake: Int64?, event: String?, now: Int64
  ) throws -> [RunID] {
    try check(claim)
    let isReady = try event.map { try hasCome($0, for: claim.run) } ?? false
    try execute(
      """
      UPDATE run SET state = ?2, owner = NULL, claims = 0, wake = ?3, event = ?4, updated = ?5
      WHERE id = ?1
      """,
      [
        .text(claim.run.text),
        .text((isReady ? RunState.ready : RunState.parked).rawValue),
        isReady ? .integer(now) : wake.map { .integer($0) } ?? .null,
        event.map { .text($0) } ?? .null, .integer(now),
      ])
    return isReady ? try wakeParents(of: claim.run, now: now) : []
  }

  private func hasCome(_ event: String, for id: RunID) throws -> Bool {
    if let child = ChildEvent.child(of: event), let state = try run(child)?.state {
      return state != .running && state != .parked
    }
    return try fetchOne(
      "SELECT 1 FROM event WHERE run = ?1 AND name = ?2", [.text(id.text), .text(event)]
    ) { _ in true } ?? false
  }

  /// Ends a run.
  ///
  /// - Returns: Its parents that waited for it, the nearest first.
  func end(
    _ claim: ClaimToken, _ outcome: String?, as state: RunState, sequence: String?, now: Int64
  ) throws -> [RunID] {
    do { try check(claim) } catch is RunCancelledError where state == .cancelled {}
    try removeKeys(of: claim.run)
    try execute(
      """
      UPDATE run SET state = ?2, outcome = ?3, sequence = ifnull(?5, sequence), owner = NULL,
        wake = NULL, event = NULL, updated = ?4, ended = ?4 WHERE id = ?1
      """,
      [
        .text(claim.run.text), .text(state.rawValue), outcome.map { .text($0) } ?? .null,
        .integer(now), sequence.map { .text($0) } ?? .null,
      ])
    return try wakeParents(of: claim.run, now: now)
  }

  /// Makes the parents of a run that has ended, or can be claimed, ready if they wait for it.
  ///
  /// A process without a worker runs a child only as a part of its parent.
  ///
  /// - Returns: The parents, the nearest first.
  func wakeParents(of id: RunID, now: Int64) throws -> [RunID] {
    var woken: [RunID] = []
    var child = id
    while let parent = try wakeParent(of: child, now: now) {
      woken.append(parent)
      child = parent
    }
    return woken
  }

  private func wakeParent(of id: RunID, now: Int64) throws -> RunID? {
    try fetchOne(
      """
      UPDATE run SET state = 'ready', wake = ?2, event = NULL, updated = ?2
      WHERE id = (SELECT parent FROM run WHERE id = ?1) AND state = 'parked' AND event = ?3
      RETURNING id
      """, [.text(id.text), .integer(now), .text(ChildEvent.name(of: id))]
    ) { RunID($0.text(at: 0) ?? "") }
  }

  /// Releases a claim without an outcome.
  ///
  /// A run whose store failed waits before its next claim, twice as long each time: a disk that is
  /// full for a few seconds must not make it stuck.
  ///
  /// - Parameter hasFailed: Whether the claim counts among those that did not finish a step.
  /// - Returns: Its parents that waited for it, the nearest first.
  @discardableResult
  func release(_ claim: ClaimToken, asFailed hasFailed: Bool, now: Int64) throws -> [RunID] {
    // After progress, the number of claims is 0.
    let delay = "min(100 << max(claims - 1, 0), 10000) * (claims < \(Self.mostClaims))"
    let change =
      hasFailed
      ? "state = 'parked', wake = ?3 + \(delay)"
      : "state = 'ready', wake = ?3, claims = max(0, claims - 1)"
    try execute(
      """
      UPDATE run SET \(change), owner = NULL, updated = ?3
      WHERE id = ?1 AND fence = ?2 AND state = 'running'
      """, [.text(claim.run.text), .integer(Int64(claim.fence)), .integer(now)])
    return changeCount > 0 ? try wakeParents(of: claim.run, now: now) : []
  }

  /// A child flow, at any depth, that has not ended; nil if there is none.
  func openChild(of id: RunID) throws -> RunID? {
    try fetchOne(
      """
      WITH RECURSIVE tree(id) AS
        (SELECT id FROM run WHERE parent = ?1
          UNION ALL SELECT run.id FROM run JOIN tree ON run.parent = tree.id)
      SELECT id FROM run WHERE id IN tree AND ended IS NULL LIMIT 1
      """, [.text(id.text)]
    ) { RunID($0.text(at: 0) ?? "") }
  }

  func markStuck(_ claim: ClaimToken, because reason: String, now: Int64) throws {
    try check(claim)
    try execute(
      """
      UPDATE run SET state = 'stuck', owner = NULL, wake = NULL, event = NULL, reason = ?2,
        updated = ?3 WHERE id = ?1
      """, [.text(claim.run.text), .text(reason), .integer(now)])
  }
}
