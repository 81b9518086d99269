extension ComposableOperation {
  /// The same operation, which runs only while it has all of the permits to itself.
  ///
  /// ```swift
  /// let database = Permits(1, name: "database")
  /// let save = SaveIssues(issues).exclusive(in: database)
  /// ```
  ///
  /// With one permit that is mutual exclusion. With more it is a barrier among those who take some by
  /// ``limited(by:taking:)``: it waits for those who came before, and those who come after it wait.
  /// Modifiers next to one another take all their permits together, so that nobody holds one while it
  /// waits for another.
  ///
  /// A cancellation ends the wait at once. An operation that would wait for ever fails at once with a
  /// ``PermitError``: because an operation that it is part of holds the permits, or because whoever
  /// holds them waits for such an operation. For that it has to run as a child of it, through the
  /// context or in a composite; a body that waits for a `run()` of its own making is not seen.
  ///
  /// - Parameter permits: What is taken; of several all are taken together.
  @inlinable public func exclusive(in permits: Permits...) -> some ComposableOperation<Success> {
    PermitTakingOperation(
      base: self, claims: permits.map { PermitClaim(permits: $0, number: $0.count) })
  }

  /// The same operation, which runs only while it has a permit.
  ///
  /// ```swift
  /// let connections = Permits(4, name: "connections")
  /// let fetch = FetchIssues(repository: repository).limited(by: connections)
  /// ```
  ///
  /// Waiting, cancellation and errors are those of ``exclusive(in:)``.
  ///
  /// - Parameters:
  ///   - permits: What is taken.
  ///   - number: How many of them.
  /// - Precondition: There are so many, and it is at least one.
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

/// Takes permits, and those of the modifiers right below it with them.
@usableFromInline protocol PermitTaking<Success>: ComposableOperation {
  var claims: [PermitClaim] { get }

  /// Performs for a modifier that has taken the claims.
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
    defer { inner.giveBack() }
    return try await performTaken(in: inner)
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
  /// Waits for permits as a part of the run.
  @usableFromInline nonisolated(nonsending) func waitFor(_ claims: [PermitClaim]) async throws {
    try await waiting(for: .permits(claims.map(\.permits.name))) { try await take(claims) }
  }

  /// Waits for permits.
  nonisolated(nonsending) func take(_ claims: [PermitClaim]) async throws {
    try await PermitLedger.take(claims, below: scope?.hold)
    // Cancelled and given the permits at the same moment.
    if Task.isCancelled {
      PermitClaim.giveBack(claims)
      throw CancellationError()
    }
  }

  /// What the part of the body sees that holds permits.
  @usableFromInline func holding(_ claims: [PermitClaim]) -> OperationContext {
    let hold = PermitHold(claims, below: scope?.hold)
    return OperationContext(scope: OperationScope(within: scope, holding: hold), depth: depth)
  }

  /// Gives the permits back that this holds.
  @usableFromInline func giveBack() {
    _ = scope?.decideEnd()
    scope?.hold?.end()
  }
}
