extension ComposableOperation {
  /// Coalesces concurrent runs with the same key into one shared run (single-flight).
  ///
  /// ```swift
  /// let profiles = SharedRuns<String, Profile>()
  ///
  /// let fetch = FetchProfile(user).shared(in: profiles, for: user.name)
  /// ```
  ///
  /// The first caller starts the shared run. It is not a child of any operation, and has the
  /// environment and the task-local values of the first caller. Callers with the same key that
  /// arrive before it has ended wait for its outcome. A cancelled caller stops waiting at once,
  /// without an effect on the others. When the last waiter has left, the shared run is cancelled. A
  /// caller that arrives after that starts another run, even while the cancelled one still runs.
  ///
  /// A caller that is part of the shared run would wait forever. It fails with a ``PermitError`` at
  /// once.
  ///
  /// > Important: All waiters receive the same value. Apply ``ComposableOperation/discarding(_:)``
  /// > before this modifier: its closure is then called once, when every waiter has discarded the
  /// > value. Applied after this modifier, it would discard a value that other waiters use.
  ///
  /// - Parameters:
  ///   - runs: The shared runs to join.
  ///   - key: Identifies the work. Operations with the same key are considered the same.
  @inlinable public func shared<Key>(
    in runs: SharedRuns<Key, Success>, for key: Key
  ) -> some ComposableOperation<Success> {
    SharedOperation(base: self, runs: runs, key: key)
  }
}

@usableFromInline
struct SharedOperation<Key: Hashable & Sendable, Base: ComposableOperation>: SeparateRun {
  @usableFromInline let base: Base
  @usableFromInline let runs: SharedRuns<Key, Base.Success>
  @usableFromInline let key: Key

  @inlinable init(base: Base, runs: SharedRuns<Key, Base.Success>, key: Key) {
    self.base = base
    self.runs = runs
    self.key = key
  }

  @inlinable nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    try await runs.held(of: base, for: key, in: context)
  }
}
