internal import CompositeOperations
internal import SQLiteSupport

// Writes of the process that runs a run.
extension SQLiteRunBackend {
  func append(
    _ step: StoredStep, dropping dropped: Range<Int>, hasKeys: Bool, by claim: ClaimToken
  ) async throws {
    let now = now
    let types = options.json(step)
    try await write {
      try $0.append(step, types, dropping: dropped, hasKeys: hasKeys, by: claim, now: now)
    }
  }

  func store(key step: StoredStep, by claim: ClaimToken) async throws {
    let types = options.json(step)
    try await write { try $0.store(key: step, types, by: claim) }
  }

  func removeKeys(by claim: ClaimToken) async throws {
    try await write { connection in
      try connection.check(claim)
      try connection.removeKeys(of: claim.run)
    }
  }

  func park(by claim: ClaimToken, until wake: Int64?, event: String?) async throws {
    let now = now
    let parents = try await write {
      try $0.park(by: claim, until: wake, event: event, now: now)
    }
    notify(claim.run, parents)
  }

  func end(
    by claim: ClaimToken, _ outcome: String?, as state: RunState, sequence: String?
  ) async throws {
    let now = now
    let parents = try await write {
      try $0.end(claim, outcome, as: state, sequence: sequence, now: now)
    }
    notify(claim.run, parents)
  }

  func release(by claim: ClaimToken, asFailed hasFailed: Bool) async throws {
    let now = now
    do {
      let parents = try await write { try $0.release(claim, asFailed: hasFailed, now: now) }
      notify(claim.run, parents)
    } catch {
      _ = unreleased.withLock { $0.insert(claim) }
      releaseLater()
      throw error
    }
  }

  /// Releases claims as soon as the store can be written. Until then, this process keeps their runs, for which others
  /// may wait.
  private func releaseLater() {
    if isReleasing.withLock({ exchange(&$0, with: true) }) { return }
    Task { [weak self] in
      var pause = Duration.milliseconds(100)
      repeat {
        try? await Task.sleep(for: pause)
        pause = min(pause * 2, .seconds(2))
      } while await self?.releaseAll() == false
    }
  }

  /// Tries to release the claims that could not be released.
  ///
  /// - Returns: False if it has to be tried again.
  func releaseAll() async -> Bool {
    let (claims, now) = (unreleased.withLock { $0 }, now)
    var isPossible = !claims.isEmpty && !isClosed.withLock { $0 }
    if isPossible {
      do {
        let released = try await write { connection in
          try claims.map { ($0.run, try connection.release($0, asFailed: true, now: now)) }
        }
        unreleased.withLock { $0.subtract(claims) }
        for (run, parents) in released { notify(run, parents) }
      } catch {
        // The next claim meets a permanent error, too.
        isPossible = (error as? RunStoreError)?.isTemporary == true
      }
    }
    return unreleased.withLock { unreleased in
      let isDone = unreleased.isEmpty || !isPossible
      isReleasing.withLock { $0 = !isDone }
      return isDone
    }
  }

  func markStuck(by claim: ClaimToken, because reason: String) async throws {
    let now = now
    try await write { try $0.markStuck(claim, because: reason, now: now) }
    changes.notify([.run(claim.run)])
  }
}
