extension ComposableOperation {
  /// The same operation, which runs once for all who want it at the same time.
  ///
  /// ```swift
  /// let profiles = SharedRuns<String, Profile>()
  ///
  /// let fetch = FetchProfile(user).shared(in: profiles, for: user.name)
  /// ```
  ///
  /// The first one who runs it begins a run of its own, outside everybody's composite and with the first
  /// one's environment and task-local values; those who come before it has ended, with the same key, wait for its outcome. Each of
  /// them is cancelled for itself, at once; the run is cancelled when the last of them is gone. Whoever comes
  /// after that begins another one, also while the one that was given up still runs.
  ///
  /// Whoever would wait for ever, because it is part of the very run, gets a ``PermitError`` at once.
  ///
  /// > Important: What several have is nobody's alone. ``ComposableOperation/discarding(_:)`` belongs inside,
  /// > where it gives a value up when the last one who got it has; around this it would give it up while
  /// > others use it.
  ///
  /// - Parameters:
  ///   - runs: Where those meet who share.
  ///   - key: What they want. Operations under the same key are taken to be the same.
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
    try await runs.end(of: base, for: key, in: context)
  }
}
