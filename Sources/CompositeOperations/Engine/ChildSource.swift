internal import Synchronization

/// Children that are made one by one, each when there is a place for it.
// Sendable, because only whoever is inside the turnstile reaches `advance` and what it captures.
@safe @usableFromInline final class ChildSource: @unchecked Sendable {
  /// Makes the next child; nil at the end.
  @usableFromInline enum Advance {
    case now(() -> (any ComposableOperation)?)
    case eventually(Eventually)

    @usableFromInline typealias Eventually =
      nonisolated(nonsending) () async throws -> (any ComposableOperation)?
  }

  private let turnstile = Turnstile()
  private let advance: Advance
  /// Called when a child has ended that was taken, if somebody wants to know.
  let childEnded: (@Sendable () -> Void)?
  /// How many children there are going to be at least; 0 if nobody knows.
  let expectedCount: Int
  private let exhaustion = Atomic(false)
  private let hasDropped = Atomic(false)

  @usableFromInline init(_ advance: Advance, expectedCount: Int = 0) {
    self.advance = advance
    self.expectedCount = expectedCount
    childEnded = nil
  }

  init(_ advance: Advance, childEnded: @escaping @Sendable () -> Void) {
    self.advance = advance
    self.childEnded = childEnded
    expectedCount = 0
  }

  @inlinable convenience init<Children: Sequence>(over children: Children)
  where Children.Element: ComposableOperation {
    var iterator = children.makeIterator()
    self.init(.now { iterator.next() }, expectedCount: children.underestimatedCount)
  }

  @inlinable convenience init<Children: AsyncSequence>(over children: Children)
  where Children.Element: ComposableOperation {
    var iterator = children.makeAsyncIterator()
    self.init(.eventually { try await iterator.next(isolation: #isolation) })
  }

  /// Whether all children were taken that there were.
  var hasGivenAll: Bool { isExhausted && !hasDropped.load(ordering: .relaxed) }

  var isExhausted: Bool { exhaustion.load(ordering: .relaxed) }

  /// Makes the next child; one at a time, in the order of the calls.
  ///
  /// - Parameters:
  ///   - isWanted: Whether there is still a use for a child: asked before it is made and after.
  ///   - take: Takes the child before the next one can be made.
  /// - Returns: What `take` made of it, or nil if none is left or wanted.
  nonisolated(nonsending) func next<Taken>(
    ifWanted isWanted: () -> Bool, take: (any ComposableOperation) -> Taken?
  ) async throws -> Taken? {
    // Here and not by `enter`, which would take a frame of its own.
    if !turnstile.tryToEnter() { await turnstile.waitToEnter() }
    defer { turnstile.leave() }
    guard !isExhausted, isWanted() else { return nil }
    do {
      let child: (any ComposableOperation)?
      switch advance {
      case .now(let advance): child = advance()
      case .eventually(let advance): child = try await advance()
      }
      if let child {
        if isWanted() { return take(child) }
        hasDropped.store(true, ordering: .relaxed)
        childEnded?()
        return nil
      }
      exhaustion.store(true, ordering: .relaxed)
      return nil
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
