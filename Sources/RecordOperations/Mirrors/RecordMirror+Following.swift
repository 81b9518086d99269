public import CompositeOperations

extension RecordMirror {
  /// Returns an operation that runs rounds until it is cancelled.
  ///
  /// The first round begins at once. Another round begins after each hint that one of the databases
  /// has changed, or after a time without hints.
  ///
  /// ```swift
  /// import CompositeOperations
  /// import RecordOperations
  ///
  /// let local = SQLiteRecordDatabase("library.sqlite")
  /// let mirror = RecordMirror(of: ["Book"], in: local, with: MemoryRecordDatabase())
  /// let run = mirror.following(atLeastEvery: .seconds(30)).start()
  /// for await state in mirror.states {
  ///   print(state)
  ///   if case .failing = state { run.cancel() }
  /// }
  /// ```
  ///
  /// The local file gives hints, and so does a remote database that conforms to ``ChangeHinting``.
  /// Several hints during a round cause one more round. While an open transaction delays remote
  /// changes (``MirrorReport/delayedSince``), further rounds follow without hints, at increasing
  /// intervals from 50 ms on.
  ///
  /// While the remote database has no account or fails, ``state`` shows this, and the local file
  /// can still be edited. After a failure, the next round begins after an increasing delay of at
  /// most `interval`, or after the delay that the database advises if that delay is longer.
  ///
  /// The operation fails only if the closure of ``ConflictPolicy/decided(_:)`` throws an error.
  ///
  /// - Parameter interval: The maximum time without a round, unless a database advises a longer
  ///   delay.
  public func following(
    atLeastEvery interval: Duration = .seconds(60)
  ) -> some ComposableOperation<Void> {
    SimpleOperation.withContext { context in
      let hint = Hint()
      try await withThrowingTaskGroup(of: Void.self) { group -> Void in
        group.addTask {
          for await _ in self.local.hints(in: .default) {
            // Most hints are about the writes of the mirror itself.
            if await self.needsRound { hint.give() }
          }
        }
        if let remote = self.remote as? any ChangeHinting {
          group.addTask { for await _ in remote.hints(in: .default) { hint.give() } }
        }
        func delays(from first: Duration) -> Backoff.Delays {
          Backoff.Delays(.exponential(from: first).capped(at: interval).jittered())
        }
        var randomness = context.randomness
        var afterFailures = delays(from: .seconds(1))
        // The end of the transaction that delays a change gives no hint.
        var afterDelays = delays(from: .milliseconds(50))
        while true {
          do {
            let report = try await self.attempt(in: context)
            if report != nil { afterFailures = delays(from: .seconds(1)) }
            let isDelayed = report?.delayedSince != nil
            if !isDelayed { afterDelays = delays(from: .milliseconds(50)) }
            let limit = isDelayed ? afterDelays.delay(using: &randomness) : interval
            try await context.wait(for: hint, atMost: limit)
          } catch let decision as DecisionError {
            self.fail(decision.error)
            throw decision.error
          } catch {
            try Task.checkCancellation()
            let failure = error as? RecordError
            let delay = max(failure?.retryDelay ?? .zero, afterFailures.delay(using: &randomness))
            self.fail(error, waitingFor: failure?.isRetriable == true ? delay : nil)
            // A database that asks for a delay gets it, whatever is edited meanwhile.
            try await context.wait(for: Hint(), atMost: delay)
          }
        }
      }
    }.named("follow")
  }

  /// Runs a round if there is an account.
  ///
  /// - Returns: The report of the round; nil if there is no account.
  private nonisolated(nonsending) func attempt(
    in context: OperationContext
  ) async throws -> MirrorReport? {
    switch try await context.run(CheckAccount(remote, retries: retries)) {
    case .available, .couldNotDetermine: break
    case .noAccount, .restricted:
      enter(.noAccount)
      return nil
    case .temporarilyUnavailable:
      throw RecordError(.unavailable("the account is temporarily unavailable"))
    }
    let round = SimpleOperation.withContext { context in try await self.round(in: context) }
    return try await context.run(round.named("sync"))
  }

  /// Whether the local file has an unsent edit, or a table that is not prepared for a round.
  private var needsRound: Bool {
    get async {
      let (name, types) = (name, types)
      let found = try? await local.read { connection in
        let tables = MirrorTables(connection: connection, mirror: name)
        guard try tables.arePrepared(for: types), let position = try tables.position() else {
          return true
        }
        return try !tables.unsent(after: position.examined, atMost: 1, types: types).isEmpty
      }
      return found ?? true
    }
  }
}

extension OperationContext {
  /// Waits for a hint, but no longer than a limit.
  fileprivate nonisolated(nonsending) func wait(
    for hint: Hint, atMost limit: Duration
  ) async throws {
    let wait = SimpleOperation {
      await hint.take()
      try Task.checkCancellation()
    }.named("wait for a change")
    do { try await run(wait.timingOut(after: limit)) } catch is TimeoutError {}
  }
}
