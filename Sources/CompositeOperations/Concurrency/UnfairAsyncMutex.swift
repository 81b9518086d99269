internal import Synchronization

/// An asynchronous mutex that does not pass to the tasks that wait for it: a release wakes one of
/// them, which competes with the others for the mutex.
///
/// So a task that acquires it often does not wait each time until another task has a thread.
/// An ``AsyncMutex`` is fair.
///
/// ```text
/// while !mutex.tryAcquire(attempts: 100) { await mutex.waitForRelease() }
/// defer { mutex.release() }
/// ```
package final class UnfairAsyncMutex: Sendable {
  private typealias Waiter = CheckedContinuation<Void, Never>

  private struct Waiters: Sendable {
    /// Tasks that wait for a release.
    var queue = FIFOQueue<Waiter>()
    /// Tasks that wait until the queue is empty and no task holds the mutex.
    var idle: [Waiter] = []

    var isEmpty: Bool { queue.count == 0 && idle.isEmpty }

    mutating func next() -> [Waiter] {
      if let first = queue.popFirst() { return [first] }
      return exchange(&idle, with: [])
    }
  }

  private static var held: UInt8 { 1 }
  /// Tasks wait, and the next release wakes one of them. While a task that has been woken has not
  /// run, usually no other task is woken.
  private static var wakes: UInt8 { 2 }

  private let state = Atomic<UInt8>(0)
  private let waiters = Lock(Waiters())

  package init() {}

  /// Acquires the mutex if no task holds it, or if its holder releases it very soon.
  ///
  /// - Parameter attempts: How often it is tried. More attempts avoid suspensions if the holder never
  ///   suspends. A single attempt can fail if another task begins to wait at the same time.
  /// - Returns: Whether the caller holds the mutex.
  package func tryAcquire(attempts: Int) -> Bool {
    for _ in 0..<attempts {
      let now = state.load(ordering: .relaxed)
      guard now & Self.held == 0 else { continue }
      let taken = state.compareExchange(
        expected: now, desired: now | Self.held, ordering: .acquiring)
      if taken.exchanged { return true }
    }
    return false
  }

  /// Releases the mutex.
  ///
  /// - Precondition: The caller holds the mutex.
  package func release() {
    let before = state.bitwiseAnd(~Self.held, ordering: .acquiringAndReleasing).oldValue
    precondition(before & Self.held != 0, "release() was called, but no task holds the mutex")
    if before & Self.wakes != 0 { wake() }
  }

  private func wake() {
    let woken = waiters.withLock { waiters in
      state.bitwiseAnd(~Self.wakes, ordering: .relaxed)
      return waiters.next()
    }
    for waiter in woken { waiter.resume() }
  }

  /// Waits until a task has released the mutex. Another task may acquire it before the caller.
  ///
  /// Ignores cancellation. The caller must call ``tryAcquire(attempts:)`` next.
  package nonisolated(nonsending) func waitForRelease() async {
    await wait { $0.queue.append($1) }
    // The next release wakes the next task.
    waiters.withLock { waiters in
      if !waiters.isEmpty { willWake() }
    }
  }

  /// Waits until no task holds the mutex or waits for its release. Tasks that have been woken and
  /// have not run do not count.
  @discardableResult package nonisolated(nonsending) func waitUntilIdle() async -> Bool {
    var hasWaited = false
    while state.load(ordering: .acquiring) & Self.held != 0 {
      await wait { $0.idle.append($1) }
      hasWaited = true
    }
    return hasWaited
  }

  private nonisolated(nonsending) func wait(
    adding add: (inout Waiters, Waiter) -> Void
  ) async {
    await withCheckedContinuation { waiter in
      let isFree = waiters.withLock { waiters in
        add(&waiters, waiter)
        return willWake()
      }
      // The mutex is free, so no release follows.
      if isFree { wake() }
    }
  }

  /// Makes the next release wake a waiter.
  ///
  /// - Returns: Whether the mutex is free.
  @discardableResult private func willWake() -> Bool {
    state.bitwiseOr(Self.wakes, ordering: .acquiringAndReleasing).oldValue & Self.held == 0
  }
}
