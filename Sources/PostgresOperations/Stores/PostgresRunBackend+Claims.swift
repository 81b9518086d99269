internal import CompositeOperations
internal import DurableOperations

extension PostgresRunBackend {
  /// The most claims without a finished step.
  static let mostClaims = 10

  var pauseBetweenClaims: Duration { .milliseconds(100) }

  func longestPause(of flows: [String], isIdle: Bool) async throws -> Duration {
    // Random, so that workers that know different flows do not take the same turns.
    .milliseconds(Int.random(in: 110...160))
  }

  func claim(flows: [String], limit: Int, isIdle: Bool) async throws -> [RunClaim] {
    if let suspect = waitingSuspect.withLock(\.self), flows.contains(suspect.flow) {
      if !isIdle, try await isWaiting(suspect) { return [] }
      waitingSuspect.withLock { $0 = nil }
      if isIdle, case .claimed(let claim) = try await claim(suspect.id) { return [claim] }
    }
    let worker = workerName.next()
    let values: [PostgresValue] = [
      .text(queue.name), .text(worker), .integer(leaseSeconds), .integer(Int64(limit)),
    ]
    let (claims, read) = (queue.claims, queue.reads.claimed)
    let time = ContinuousClock.now
    let wasEmpty = lastClaimWasEmpty.withLock(\.self)
    var isFirst = true
    let runs = try await repeated {
      let mayHaveClaimed = !isFirst
      isFirst = false
      return try await pool.run { [clock] connection -> [AbsurdRun] in
        let asked = ServerClock.MachineTime.now
        // After a lost reply the runs are claimed already.
        var rows = mayHaveClaimed ? try connection.rows(read, [.text(worker)]) : nil
        if rows == nil || rows?.count == 0 {
          // A claim is costly for the server.
          if wasEmpty, try connection.rows(claims.isAnyDue).boolean(0, 0) == false { return [] }
          rows = try claims.claimed(values, by: worker, read, on: connection)
          // The engine ends attempts whose lease has expired. Their next ones are due
          // later, and so not among the runs that it has claimed.
          if rows?.count == 0, try connection.rows(claims.isAnyDue).boolean(0, 0) == true {
            rows = try claims.claimed(values, by: worker, read, on: connection)
          }
        }
        let runs = rows.map { clock.runs($0, asked: asked) } ?? []
        func giveBack(_ run: AbsurdRun, _ delay: Duration) throws {
          let seconds = PostgresValue.text("\(delay / .seconds(1))")
          _ = try connection.rows(claims.giveBack, [.text(worker), .text(run.attemptID), seconds])
        }
        // The tasks of other programs, for a while.
        let known = runs.filter { $0.start != nil && flows.contains($0.run.flow) }
        for run in runs where !known.contains(where: { $0.attemptID == run.attemptID }) {
          try giveBack(run, .seconds(Int.random(in: 5...15)))
        }
        let selection = SuspectSelection(of: known, isIdle: isIdle, mostClaims: Self.mostClaims)
        for run in selection.others {
          try giveBack(
            run,
            run.attemptID == selection.next?.attemptID
              ? .zero : .milliseconds(Int.random(in: 200...500)))
        }
        if let next = selection.next {
          self.waitingSuspect.withLock {
            $0 = WaitingSuspect(id: next.run.id, flow: next.run.flow, checked: time)
          }
        }
        return selection.runs
      }
    }
    lastClaimWasEmpty.withLock { $0 = runs.isEmpty }
    var found: [RunClaim] = []
    for run in runs {
      let claim = add(run, worker, at: time)
      // The others are claimed already. This one is claimed again after its lease.
      let isStuck = (try? await markExhaustedStuck(claim)) ?? true
      if !isStuck { found.append(claim) }
    }
    return found
  }

  /// Whether a suspect still waits for a worker that runs nothing else. Looks at most once a second.
  private func isWaiting(_ suspect: WaitingSuspect) async throws -> Bool {
    if ContinuousClock.now - suspect.checked < .seconds(1) { return true }
    waitingSuspect.withLock { $0?.checked = .now }
    guard let run = try await stored(suspect.id)?.run else { return false }
    return run.isSuspect && (run.state == .ready || run.state == .parked)
  }

  private func add(
    _ run: AbsurdRun, _ worker: String, at time: ContinuousClock.Instant
  ) -> RunClaim {
    let claim = RunClaim(run.run, isFirst: run.isFresh)
    held.add(
      HeldClaim(
        token: claim.token, attemptID: run.attemptID, taskID: run.taskID, worker: worker,
        claims: run.run.claims, extended: time))
    return claim
  }

  /// Marks a run as stuck that was claimed too often.
  ///
  /// - Returns: Whether it was.
  /// - Throws: The error of the store. The claim is then forgotten, and its lease expires.
  private func markExhaustedStuck(_ claim: RunClaim) async throws -> Bool {
    let claims = claim.run.claims - 1
    if claims < Self.mostClaims { return false }
    do { return try await markStuckWithoutProgress(claim, claims) } catch {
      if let held = try? held.claim(claim.token) { self.held.remove(held) }
      throw error
    }
  }

  private func markStuckWithoutProgress(_ claim: RunClaim, _ claims: Int) async throws -> Bool {
    // A parent whose children make progress is not stuck.
    let values: [PostgresValue] = [.text(claim.run.id.text), .integer(Int64(Self.mostClaims - 1))]
    let read = queue.reads.childProgress
    if try await request({ try $0.rows(read, values) }).boolean(0, 0) == true { return false }
    try await markStuck(
      by: claim.token,
      because: """
        \(claims) claims in a row have not finished step \(claim.run.stepCount): the process ended, \
        or the store failed, each time
        """)
    return true
  }

  /// Starts a run and claims it in one transaction, for the next call of ``claim(_:)``.
  ///
  /// - Parameters:
  ///   - values: The parameters of the start.
  ///   - start: The text that only this start has.
  /// - Returns: Nil if the run exists already.
  func startClaimed(
    _ id: RunID, _ values: [PostgresValue], _ start: String
  ) async throws -> RunClaim? {
    let worker = workerName.next()
    let (spawn, claim, read) = (queue.requests.spawn, queue.claims.claimRun, queue.reads.claimed)
    let time = ContinuousClock.now
    let claiming: [PostgresValue] = [.text(id.text), .text(worker), .integer(leaseSeconds)]
    let run = try await request { [clock] connection -> AbsurdRun? in
      let asked = ServerClock.MachineTime.now
      return try connection.transaction {
        // After a lost reply the run is there already, and claimed.
        let isNew = try connection.rows(spawn, values).boolean(0, 2) == true
        if isNew { _ = try connection.rows(claim, claiming) }
        return clock.runs(try connection.rows(read, [.text(worker)]), asked: asked).first
      }
    }
    guard let run, run.start == start else { return nil }
    let added = add(run, worker, at: time)
    claimedAtStart.withLock { $0[id] = added }
    return added
  }

  func claim(_ id: RunID) async throws -> ClaimAnswer {
    if let claim = claimedAtStart.withLock({ $0.removeValue(forKey: id) }) {
      return .claimed(claim)
    }
    while true {
      guard let found = try await stored(id) else { return .missing }
      switch found.run.state {
      case .result, .error, .cancelled, .stuck: return .over(found.run)
      case .running, .interrupted:
        guard found.run.hasExpired else { return .taken }
        try await expire(found.attemptID)
        continue
      case .parked: return .parked(until: found.run.wake)
      case .ready: break
      }
      let worker = workerName.next()
      let values: [PostgresValue] = [.text(id.text), .text(worker), .integer(leaseSeconds)]
      let (claim, read) = (queue.claims.claimRun, queue.reads.claimed)
      let time = ContinuousClock.now
      let run = try await request { [clock] connection -> AbsurdRun? in
        let asked = ServerClock.MachineTime.now
        var rows = try connection.rows(read, [.text(worker)])
        if rows.count == 0 {
          _ = try connection.rows(claim, values)
          rows = try connection.rows(read, [.text(worker)])
        }
        return clock.runs(rows, asked: asked).first
      }
      // Another worker was faster.
      guard let run else { continue }
      let claimed = add(run, worker, at: time)
      if try await markExhaustedStuck(claimed) { continue }
      return .claimed(claimed)
    }
  }

  private func expire(_ attempt: String) async throws {
    let values: [PostgresValue] = [.text(queue.name), .text(attempt)]
    let statement = queue.claims.expire
    _ = try await request { connection in
      do throws(PostgresError) { _ = try connection.rows(statement, values) } catch {
        // Another process has ended it at the same time.
        guard error.kind == .refused, error.code.hasPrefix("AB00") else { throw error }
      }
    }
  }
}

extension ClaimStatements {
  /// Claims due runs and reads them, in one transaction and with one wait for the server.
  ///
  /// - Parameters:
  ///   - values: The parameters of the claim.
  ///   - read: Reads the runs that a worker has claimed.
  fileprivate func claimed(
    _ values: [PostgresValue], by worker: String, _ read: PostgresStatement,
    on connection: PostgresConnection
  ) throws(PostgresError) -> PostgresRows {
    // The engine looks at all tasks, for which a scan is the fastest plan.
    try connection.rows([
      (permitScans, [.text("on")]), (claim, values), (permitScans, [.text("off")]),
      (read, [.text(worker)]),
    ])[3]
  }
}
