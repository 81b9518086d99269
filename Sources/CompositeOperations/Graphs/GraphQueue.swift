internal import Synchronization

/// The ready nodes of one graph run, and the tasks that wait for them.
///
/// Every node becomes ready once, and is then run by the task that has made it ready or added here,
/// so an array with an entry for each node is enough. Adding and taking a node need no lock. Only
/// waiting needs one.
@safe final class GraphQueue: Sendable {
  private typealias Waiter = CheckedContinuation<Void, Never>

  private struct Waiting: Sendable {
    var isOver: Bool
    var waiters: [Waiter] = []
  }

  private let count: Int
  /// Each entry is the number of a ready node plus 1, or 0 if no node has been added there yet. It
  /// is written once, after everything that the task that takes the node must see.
  private nonisolated(unsafe) let list: UnsafeMutablePointer<Atomic<Int32>>
  private let padding = CacheLine()
  private let head = Atomic(0)
  private let paddingBehindHead = CacheLine()
  private let tail = Atomic(0)
  private let paddingBehindTail = CacheLine()
  private let waiting: Lock<Waiting>
  private let waiterCount = Atomic(0)
  private let hasEnded: Atomic<Bool>

  /// - Parameter count: The number of nodes.
  init(count: Int) {
    self.count = count
    waiting = Lock(Waiting(isOver: count == 0))
    hasEnded = Atomic(count == 0)
    unsafe list = .allocate(capacity: count)
    for index in 0..<count { unsafe (list + index).initialize(to: Atomic(0)) }
  }

  deinit { unsafe list.deallocate() }

  /// Whether no further node becomes ready.
  var isOver: Bool { hasEnded.load(ordering: .relaxed) }

  // MARK: Nodes

  var hasReady: Bool { !isOver && firstReady != nil }

  private var firstReady: (place: Int, node: Int)? {
    let place = head.load(ordering: .relaxed)
    guard place < count else { return nil }
    let node = unsafe list[place].load(ordering: .acquiring)
    return node == 0 ? nil : (place, Int(node) - 1)
  }

  /// Takes a ready node; nil if there is none.
  func take() -> Int? {
    if isOver { return nil }
    while let (place, node) = firstReady {
      let taken = head.weakCompareExchange(
        expected: place, desired: place + 1, ordering: .relaxed)
      if taken.exchanged { return node }
    }
    return nil
  }

  /// Adds a node that has become ready. ``wakeOne()`` must follow.
  func add(_ node: Int) {
    let place = tail.wrappingAdd(1, ordering: .relaxed).oldValue
    unsafe list[place].store(Int32(node) + 1, ordering: .releasing)
  }

  // MARK: Waiting

  /// Waits until a node is ready and there is a place for it, or until no further node becomes
  /// ready.
  ///
  /// - Parameter isPlaceFree: Whether there is a place. ``wakeOne()`` must follow when a place
  ///   becomes free.
  nonisolated(nonsending) func waitForReady(ifPlaced isPlaceFree: () -> Bool) async -> Readiness {
    if isOver { return .over }
    if hasReady, isPlaceFree() { return .ready }
    await withCheckedContinuation { waiter in
      let isOver = waiting.withLock { waiting in
        if !waiting.isOver { waiting.waiters.append(waiter) }
        return waiting.isOver
      }
      if isOver { return waiter.resume() }
      // A task that adds a node or frees a place reads this count afterwards, so at least one of
      // the two tasks sees the change of the other.
      waiterCount.wrappingAdd(1, ordering: .acquiringAndReleasing)
      if hasReady, isPlaceFree() { wakeOne() }
    }
    return isOver ? .over : .readyAfterWait
  }

  /// Wakes one waiting task, if there is one.
  ///
  /// - Parameter mustBeReady: Whether to wake it only if a node is ready.
  func wakeOne(ifReady mustBeReady: Bool = false) {
    // The count is read first, as the waiting task expects.
    if hasWaiters, !mustBeReady || hasReady { wake() }
  }

  private var hasWaiters: Bool {
    waiterCount.wrappingAdd(0, ordering: .acquiringAndReleasing).newValue > 0
  }

  private func wake() {
    guard let waiter = waiting.withLock({ $0.waiters.popLast() }) else { return }
    waiterCount.wrappingSubtract(1, ordering: .relaxed)
    waiter.resume()
  }

  /// Ends the queue, and resumes all waiting tasks: no further node becomes ready.
  func end() {
    hasEnded.store(true, ordering: .relaxed)
    let waiters = waiting.withLock { waiting in
      waiting.isOver = true
      defer { waiting.waiters = [] }
      return waiting.waiters
    }
    for waiter in waiters { waiter.resume() }
  }
}
