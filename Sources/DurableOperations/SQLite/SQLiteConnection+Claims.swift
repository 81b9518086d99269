internal import SQLiteSupport

// The statements about claims and their ends. Each function is a part of a transaction.
extension SQLiteConnection {
  /// The most claims in a row that end with a failure of the store, without a finished step.
  private static let mostFailures: Int64 = 10
  /// The most claims in a row that end with their process, without a finished step. Of those after the second, only
  /// claims count whose process has run nothing else.
  private static let mostInterruptions: Int64 = 12
  private static let isExhausted =
    "(failures >= \(mostFailures) OR interruptions >= \(mostInterruptions))"
  /// How long a suspect that is due waits until a worker that runs others begins nothing else, in milliseconds.
  private static let longestWait: Int64 = 30_000

  /// Claims due runs, in the order of their wake times: runs that are no suspects, or one suspect.
  ///
  /// - Parameter isIdle: Whether the worker runs nothing else.
  func claim(
    flows: String, limit: Int, isIdle: Bool, owner: Int64, now: Int64
  ) throws -> [StoredRun] {
    if try hasOverdueSuspect(flows, now: now) {
      return isIdle ? try claimSuspect(flows, owner: owner, now: now) : []
    }
    let claimed = try fetchAll(
      """
      UPDATE run
      SET state = 'running', owner = ?1, fence = fence + 1, claims = claims + 1, alone = 0,
        wake = NULL, event = NULL, updated = ?2
      WHERE id IN
        (SELECT id FROM
          (SELECT * FROM (SELECT id, wake FROM run WHERE state = 'ready' AND interruptions < 2
            AND NOT \(Self.isExhausted) AND flow IN (SELECT value FROM json_each(?3))
            ORDER BY wake LIMIT ?4)
          UNION ALL SELECT * FROM (SELECT id, wake FROM run WHERE state = 'parked'
            AND interruptions < 2 AND wake <= ?2
            AND NOT \(Self.isExhausted) AND flow IN (SELECT value FROM json_each(?3))
            ORDER BY wake LIMIT ?4))
        ORDER BY wake LIMIT ?4)
      RETURNING \(Self.runColumns)
      """,
      [.integer(owner), .integer(now), .text(flows), .integer(Int64(limit))], StoredRun.init)
    if !claimed.isEmpty { try markAccompanied(ofOwner: owner) }
    if claimed.count == 1 {
      try execute(
        """
        UPDATE run SET alone = NOT EXISTS
          (SELECT 1 FROM run AS other WHERE owner = ?1 AND state = 'running' AND id <> ?2)
        WHERE id = ?2
        """, [.integer(owner), .text(claimed[0].id.text)])
    }
    // Only if few runs are left, because this reads every due run.
    if claimed.count < limit {
      try markExhaustedStuck(
        "flow IN (SELECT value FROM json_each(?2))", .text(flows), now: now)
    }
    if claimed.isEmpty, isIdle { return try claimSuspect(flows, owner: owner, now: now) }
    return claimed
  }

  // MARK: Suspects

  // A run that has ended two processes may do so again, or has only been in a process that another run has ended. A
  // worker runs it while it runs nothing else, so that no other run is interrupted, and so that the next end of the
  // process shows which one it was.

  private static let dueSuspects = """
    state IN ('ready', 'parked') AND interruptions >= 2 AND (state = 'ready' OR wake <= ?2)
      AND flow IN (SELECT value FROM json_each(?1))
    """

  private func hasOverdueSuspect(_ flows: String, now: Int64) throws -> Bool {
    try fetchOne(
      """
      SELECT 1 FROM run WHERE \(Self.dueSuspects) AND NOT \(Self.isExhausted)
        AND max(wake, updated) <= ?3 LIMIT 1
      """, [.text(flows), .integer(now), .integer(now - Self.longestWait)]
    ) { _ in true } ?? false
  }

  private func claimSuspect(_ flows: String, owner: Int64, now: Int64) throws -> [StoredRun] {
    let suspect = try fetchOne(
      """
      SELECT \(Self.runColumns) FROM run WHERE \(Self.dueSuspects) AND NOT \(Self.isExhausted)
      ORDER BY wake LIMIT 1
      """, [.text(flows), .integer(now)], StoredRun.init)
    guard let suspect else { return [] }
    let claimed = try claim(suspect.id, of: suspect.parent, owner: owner, now: now)
    return claimed.map { [$0] } ?? []
  }

  /// Notes that the running runs of an owner are not alone in it.
  ///
  /// - Parameter ids: JSON with the names of runs of which this does not hold.
  private func markAccompanied(ofOwner owner: Int64, except ids: String = "[]") throws {
    try execute(
      """
      UPDATE run SET alone = 0 WHERE owner = ?1 AND alone = 1 AND state = 'running'
        AND id NOT IN (SELECT value FROM json_each(?2))
      """, [.integer(owner), .text(ids)])
  }

  /// Claims one run that is due.
  ///
  /// - Parameter parent: Its parent.
  /// - Returns: Nil if it cannot be claimed.
  func claim(_ id: RunID, of parent: RunID?, owner: Int64, now: Int64) throws -> StoredRun? {
    try markExhaustedStuck("id = ?2", .text(id.text), now: now)
    // Runs that wait for this one do nothing else.
    let ancestors = try parent.map { try self.ancestors(from: $0) } ?? "[]"
    let claimed = try fetchOne(
      """
      UPDATE run
      SET state = 'running', owner = ?1, fence = fence + 1, claims = claims + 1, wake = NULL,
        event = NULL, updated = ?2, alone = NOT EXISTS
          (SELECT 1 FROM run WHERE owner = ?1 AND state = 'running'
            AND id NOT IN (SELECT value FROM json_each(?4)))
      WHERE id = ?3 AND (state = 'ready' OR state = 'parked' AND wake <= ?2)
      RETURNING \(Self.runColumns)
      """,
      [.integer(owner), .integer(now), .text(id.text), .text(ancestors)], StoredRun.init)
    if let claimed, !claimed.isAlone { try markAccompanied(ofOwner: owner, except: ancestors) }
    return claimed
  }

  /// Returns JSON with the names of a run and of those above it.
  private func ancestors(from id: RunID) throws -> String {
    try fetchOne(
      """
      WITH RECURSIVE tree(id) AS
        (SELECT ?1 UNION ALL SELECT parent FROM run JOIN tree USING (id) WHERE parent IS NOT NULL)
      SELECT json_group_array(id) FROM tree
      """, [.text(id.text)]
    ) { $0.text(at: 0) ?? "[]" } ?? "[]"
  }

  /// Marks the due runs stuck that have been claimed too often.
  ///
  /// - Parameters:
  ///   - condition: Which runs, by the parameter 2.
  ///   - value: The value of the parameter.
  private func markExhaustedStuck(
    _ condition: String, _ value: SQLiteValue, now: Int64
  ) throws {
    let step =
      "ifnull((SELECT max(position) + 1 FROM step WHERE run = id AND key = ''), 0)"
    try execute(
      """
      UPDATE run
      SET state = 'stuck', wake = NULL, event = NULL, updated = ?1,
        reason = CASE WHEN interruptions >= \(Self.mostInterruptions)
          THEN interruptions || ' processes in a row have ended during step ' || \(step)
            || ', the last ones while they ran nothing else'
          ELSE failures || ' claims in a row have not finished step ' || \(step)
            || ': the store failed each time' END
      WHERE \(condition) AND state IN ('ready', 'parked') AND (state = 'ready' OR wake <= ?1)
        AND \(Self.isExhausted)
      """, [.integer(now), value])
  }

  /// The time of the next run that can be claimed; nil if there is none.
  ///
  /// - Parameter isIdle: Whether the worker runs nothing else.
  func nextWake(flows: String, isIdle: Bool, now: Int64) throws -> Int64? {
    if !isIdle, try hasOverdueSuspect(flows, now: now) { return nil }
    return try fetchOne(
      """
      SELECT min(wake) FROM
        (SELECT * FROM (SELECT ?2 AS wake FROM run WHERE state = 'ready' AND interruptions < 2
          AND flow IN (SELECT value FROM json_each(?1)) LIMIT 1)
        UNION ALL SELECT min(wake) FROM run WHERE state = 'parked' AND interruptions < 2
          AND flow IN (SELECT value FROM json_each(?1))
        UNION ALL SELECT min(wake) FROM run WHERE state IN ('ready', 'parked')
          AND interruptions >= 2 AND (?3 OR state = 'parked' AND wake > ?2)
          AND flow IN (SELECT value FROM json_each(?1)))
      """, [.text(flows), .integer(now), .integer(isIdle ? 1 : 0)]
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
    get throws { try fetchAll("SELECT number FROM run_process") { $0.integer(at: 0) } }
  }

  func makeRunsReady(ofOwner number: Int64, now: Int64) throws {
    let ids = try fetchAll(
      """
      UPDATE run SET state = 'ready', owner = NULL, wake = ?2, updated = ?2,
        interruptions = interruptions + (interruptions < 2 OR alone)
      WHERE owner = ?1 AND state = 'running' RETURNING id
      """, [.integer(number), .integer(now)]
    ) { RunID($0.text(at: 0) ?? "") }
    for id in ids { _ = try wakeParents(of: id, now: now) }
    try execute("DELETE FROM run_process WHERE number = ?1", [.integer(number)])
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
  /// - Throws: A ``DurableRunError``.
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
      throw DurableRunError(claim.run, .taken(fence: claim.fence))
    }
    if row.isCancelled { throw DurableRunError(claim.run, .cancelled(because: row.reason)) }
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
      UPDATE run SET state = ?2, owner = NULL, \(Self.noClaims), wake = ?3, event = ?4, updated = ?5
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
    do { try check(claim) } catch let error as DurableRunError
      where error.isCancelled && state == .cancelled
    {
    }
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
    // In an assignment, columns have their earlier values.
    let delay = "min(100 << failures, 10000) * (failures < \(Self.mostFailures) - 1)"
    let change =
      hasFailed
      ? "state = 'parked', wake = ?3 + \(delay), failures = failures + 1"
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
