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

  private let mutex = UnfairAsyncMutex()
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
    let iterator = IteratorBox(children.makeIterator())
    self.init(.now { unsafe iterator.value.next() }, expectedCount: children.underestimatedCount)
  }

  @inlinable convenience init<Children: AsyncSequence>(over children: Children)
  where Children.Element: ComposableOperation {
    let iterator = IteratorBox(children.makeAsyncIterator())
    self.init(.eventually { try await unsafe iterator.value.next(isolation: #isolation) })
  }

  /// Whether all children of the source have been taken.
  var hasGivenAll: Bool { isExhausted && !hasDropped.load(ordering: .relaxed) }

  var isExhausted: Bool { exhaustion.load(ordering: .relaxed) }

  /// Creates the next child at once, if the source creates its children synchronously and no other
  /// task is creating one.
  ///
  /// - Parameters:
  ///   - isWanted: Whether a child is still needed. Called before the child is created, and after.
  ///   - take: Takes the child before the next one can be created.
  /// - Returns: Whether a child was taken; false if no child is left or needed. If nil, call
  ///   ``next(ifWanted:take:)``.
  @inline(__always) func takeNow(
    ifWanted isWanted: () -> Bool, take: (consuming any ComposableOperation) -> Void
  ) -> Bool? {
    guard case .now(let advance) = advance, mutex.tryAcquire(attempts: 1_000) else { return nil }
    defer { mutex.release() }
    guard !isExhausted, isWanted() else { return false }
    return self.take(advance(), ifWanted: isWanted, take)
  }

  /// Creates the next child. Calls run one at a time.
  ///
  /// - Parameters:
  ///   - isWanted: Whether a child is still needed. Called before the child is created, and after.
  ///   - take: Takes the child before the next one can be created.
  /// - Returns: Whether a child was taken; false if no child is left or needed.
  /// - Throws: The error of the source.
  nonisolated(nonsending) func next(
    ifWanted isWanted: () -> Bool, take: (consuming any ComposableOperation) -> Void
  ) async throws -> Bool {
    while !mutex.tryAcquire(attempts: 100) { await mutex.waitForRelease() }
    defer { mutex.release() }
    guard !isExhausted, isWanted() else { return false }
    switch advance {
    case .now(let advance): return self.take(advance(), ifWanted: isWanted, take)
    case .eventually(let advance):
      do {
        return self.take(try await advance(), ifWanted: isWanted, take)
      } catch {
        exhaustion.store(true, ordering: .relaxed)
        throw error
      }
    }
  }

  @inline(__always) private func take(
    _ child: consuming (any ComposableOperation)?, ifWanted isWanted: () -> Bool,
    _ take: (consuming any ComposableOperation) -> Void
  ) -> Bool {
    guard let child else {
      exhaustion.store(true, ordering: .relaxed)
      return false
    }
    if isWanted() {
      take(child)
      return true
    }
    hasDropped.store(true, ordering: .relaxed)
    childEnded?()
    return false
  }

  /// Waits until no task is creating a child or waiting for one.
  ///
  /// - Returns: Whether it has waited.
  nonisolated(nonsending) func waitUntilIdle() async -> Bool { await mutex.waitUntilIdle() }
}

/// The iterator of a source.
@usableFromInline final class IteratorBox<Iterator> {
  // Unchecked, because only the holder of the source's mutex uses it.
  @exclusivity(unchecked) @usableFromInline var value: Iterator

  @inlinable init(_ value: Iterator) { unsafe self.value = value }
}
