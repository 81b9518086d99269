extension OperationContext {
  /// Waits by the clock of the environment. What takes no time, or less, takes none.
  ///
  /// - Throws: `CancellationError` as soon as the task is cancelled, also where there is nothing to
  ///   wait for.
  @usableFromInline nonisolated(nonsending) func wait(_ delay: Duration) async throws {
    try Task.checkCancellation()
    // No clock counts so far that a century from now could not be told.
    if delay > .zero { try await clock.sleep(for: min(delay, .seconds(3_000_000_000))) }
  }
}
