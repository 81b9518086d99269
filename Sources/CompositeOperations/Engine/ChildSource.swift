internal import Synchronization

/// Children that are made one by one, each when there is a place for it.
// Sendable, because only whoever is inside the turnstile reaches `advance` and what it captures.
@safe final class ChildSource<Child: ComposableOperation>: @unchecked Sendable {
  private let turnstile = Turnstile()
  private let advance: nonisolated(nonsending) () async throws -> Child?
  private let exhaustion = Atomic(false)

  init(_ advance: nonisolated(nonsending) @escaping () async throws -> Child?) {
    self.advance = advance
  }

  var isExhausted: Bool { exhaustion.load(ordering: .relaxed) }

  /// Makes the next child; one at a time, in the order of the calls.
  ///
  /// - Parameters:
  ///   - isWanted: Whether there is still a use for a child: asked before it is made and after.
  ///   - take: Takes the child before the next one can be made.
  /// - Returns: What `take` made of it, or nil if none is left or wanted.
  nonisolated(nonsending) func next<Taken>(
    ifWanted isWanted: () -> Bool, take: (Child) -> Taken
  ) async throws -> Taken? {
    await turnstile.enter()
    defer { turnstile.leave() }
    guard !isExhausted, isWanted() else { return nil }
    do {
      guard let child = try await advance() else {
        exhaustion.store(true, ordering: .relaxed)
        return nil
      }
      return isWanted() ? take(child) : nil
    } catch {
      exhaustion.store(true, ordering: .relaxed)
      throw error
    }
  }

  /// Waits until nobody waits for a child.
  ///
  /// - Returns: Whether there may be more of them.
  nonisolated(nonsending) func isReady() async -> Bool {
    await turnstile.waitUntilIdle()
    return !isExhausted
  }
}
