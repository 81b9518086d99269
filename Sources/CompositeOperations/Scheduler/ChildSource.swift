internal import Synchronization

/// A source of children that are created one by one, each when there is a place for it.
// Sendable, because only the holder of the mutex uses `advance` and its captures.
@safe @usableFromInline final class ChildSource: @unchecked Sendable {
  /// Creates the next child, or returns nil after the last one.
  @usableFromInline enum Advance {
    case now(() -> (any ComposableOperation)?)
    case eventually(Eventually)

    @usableFromInline typealias Eventually =
      nonisolated(nonsending) () async throws -> (any ComposableOperation)?
  }

  private let mutex = AsyncMutex()
  private let advance: Advance
  /// Called when a child has ended, or was dropped because it was no longer needed.
  let childEnded: (@Sendable () -> Void)?
  /// The minimum number of children; 0 if it is unknown.
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

  /// Whether all children of the source have been taken.
  var hasGivenAll: Bool { isExhausted && !hasDropped.load(ordering: .relaxed) }

  var isExhausted: Bool { exhaustion.load(ordering: .relaxed) }

  /// Creates the next child. Calls run one at a time, in their order.
  ///
  /// - Parameters:
  ///   - isWanted: Whether a child is still needed. Called before the child is created, and after.
  ///   - take: Takes the child before the next one can be created.
  /// - Returns: The value of `take`; nil if no child is left or needed.
  /// - Throws: The error of the source.
  nonisolated(nonsending) func next<Taken>(
    ifWanted isWanted: () -> Bool, take: (any ComposableOperation) -> Taken?
  ) async throws -> Taken? {
    // Not `acquireIgnoringCancellation()`, which would need an asynchronous frame of its own.
    if !mutex.tryAcquire() { await mutex.waitIgnoringCancellation() }
    defer { mutex.release() }
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

  /// Waits until no task is creating a child or waiting for one.
  ///
  /// - Returns: Whether there may be more children.
  nonisolated(nonsending) func isReady() async -> Bool {
    await mutex.waitUntilIdle()
    return !isExhausted
  }
}
