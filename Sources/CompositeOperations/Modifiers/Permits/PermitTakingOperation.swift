extension ComposableOperation {
  /// Runs the operation while it holds all of the permits.
  ///
  /// ```swift
  /// let database = Permits(1, name: "database")
  /// let save = SaveIssues(issues).exclusive(in: database)
  /// ```
  ///
  /// With one permit this is a mutex. With more it is a barrier among operations that take some of
  /// the permits by ``limited(by:taking:)``: it waits for the earlier ones, and the later ones wait
  /// for it. Adjacent modifiers take all their permits together, so that no operation holds one
  /// while it waits for another.
  ///
  /// A cancellation ends the wait at once. If the wait would be a deadlock, the operation fails at
  /// once with a ``PermitError``: an enclosing operation holds the permits, or their holder waits
  /// for something that an enclosing operation holds. A deadlock is only detected if the operation
  /// runs as a child, through the context or in a composite, and not if a body calls its `run()`.
  ///
  /// - Parameter permits: The permits. If there are several instances, all are taken together.
  @inlinable public func exclusive(in permits: Permits...) -> some ComposableOperation<Success> {
    PermitTakingOperation(
      base: self, claims: permits.map { PermitClaim(permits: $0, number: $0.count) })
  }

  /// Runs the operation while it holds a permit, which limits how many operations run at once.
  ///
  /// ```swift
  /// let connections = Permits(4, name: "connections")
  /// let fetch = FetchIssues(repository: repository).limited(by: connections)
  /// ```
  ///
  /// For waits, cancellations and deadlocks see ``exclusive(in:)``.
  ///
  /// - Parameters:
  ///   - permits: The permits.
  ///   - number: How many permits it holds.
  /// - Precondition: `number` is at least 1, and at most the count of the permits.
  @inlinable public func limited(
    by permits: Permits, taking number: Int = 1
  ) -> some ComposableOperation<Success> {
    precondition(
      (1...permits.count).contains(number),
      "`number` must be 1 to \(permits.count), the count of '\(permits)' (was \(number))")
    return PermitTakingOperation(
      base: self, claims: [PermitClaim(permits: permits, number: number)])
  }
}

/// An operation whose permits an outer modifier may take together with its own.
@usableFromInline protocol PermitTaking<Success>: ComposableOperation {
  var claims: [PermitClaim] { get }

  /// Performs the operation, whose permits an outer modifier has taken.
  nonisolated(nonsending) func performTaken(
    in context: OperationContext
  ) async throws -> HeldResult<Success>
}

@usableFromInline struct PermitTakingOperation<Base: ComposableOperation>: TransparentOperation {
  @usableFromInline let base: Base
  @usableFromInline let claims: [PermitClaim]
  /// The base, if it takes permits too.
  @usableFromInline let below: (any PermitTaking<Base.Success>)?

  @usableFromInline init(base: Base, claims: [PermitClaim]) {
    self.base = base
    below = base as? any PermitTaking<Base.Success>
    self.claims = claims.reduce(into: below?.claims ?? []) { $0 = $0.merged(with: [$1]) }
  }

  @inlinable nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    if !PermitClaim.tryToTake(claims) { try await context.waitFor(claims) }
    let inner = context.holding(claims)
    do {
      let result = try await performTaken(in: inner)
      if inner.giveBack() { await inner.waitUntilRaised() }
      return result
    } catch {
      if inner.giveBack() { await inner.waitUntilRaised() }
      throw error
    }
  }
}

extension PermitTakingOperation: PermitTaking {
  @inlinable nonisolated(nonsending) func performTaken(
    in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    if let below { return try await below.performTaken(in: context) }
    return try await base.performHeld(in: context)
  }
}

extension OperationContext {
  /// Waits for permits, and reports the wait as one of the run.
  @usableFromInline nonisolated(nonsending) func waitFor(_ claims: [PermitClaim]) async throws {
    try await waiting(for: .permits(claims.map(\.permits.name))) { try await take(claims) }
  }

  /// Waits for permits.
  nonisolated(nonsending) func take(_ claims: [PermitClaim]) async throws {
    try await PermitLedger.take(claims, below: scope?.permits)
    // The permits may have been granted at the same time as the task was cancelled.
    if Task.isCancelled {
      PermitClaim.giveBack(claims)
      throw CancellationError()
    }
  }

  /// Returns the context for the part of the body that holds permits.
  @usableFromInline func holding(_ claims: [PermitClaim]) -> OperationContext {
    let hold = PermitHold(claims, below: scope?.permits, in: RunningTask.own)
    hold.joinHolders()
    return OperationContext(scope: OperationScope(within: scope, holding: hold), depth: depth)
  }

  /// Gives back the permits that the context holds.
  ///
  /// - Returns: Whether ``waitUntilRaised()`` must be called.
  @usableFromInline func giveBack() -> Bool {
    _ = scope?.markEnded()
    guard let hold = scope?.permits else { return false }
    hold.leaveHolders()
    hold.end()
    return hold.task.isBeingRaised
  }

  /// Waits until no other task raises the priority of this one.
  @usableFromInline nonisolated(nonsending) func waitUntilRaised() async {
    await scope?.permits?.task.waitUntilRaised()
  }
}
