internal import Synchronization

/// The ready nodes of one graph run, the free places for them, and the tasks that wait for both.
///
/// Every node becomes ready once, so an array with an entry for each node is enough. Adding and
/// taking a node need no lock. Only waiting, and nodes that are given back, need one.
@safe final class GraphQueue: Sendable {
  private typealias Waiter = CheckedContinuation<Void, Never>

  private struct Waiting: Sendable {
    var isOver: Bool
    var waiters: [Waiter] = []
    /// Nodes that were taken and given back.
    var returned: [Int] = []
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
  private let isLimited: Bool
  private let places: Places
  private let waiting: Lock<Waiting>
  private let waiterCount = Atomic(0)
  private let returnedCount = Atomic(0)
  private let hasEnded: Atomic<Bool>

  /// - Parameters:
  ///   - count: The number of nodes.
  ///   - limit: The number of places.
  init(count: Int, limit: Int) {
    self.count = count
    isLimited = limit < count
    places = Places(limit)
    waiting = Lock(Waiting(isOver: count == 0))
    hasEnded = Atomic(count == 0)
    unsafe list = .allocate(capacity: count)
    for index in 0..<count { unsafe (list + index).initialize(to: Atomic(0)) }
  }

  deinit { unsafe list.deallocate() }

  /// Whether no further node becomes ready.
  var isOver: Bool { hasEnded.load(ordering: .relaxed) }

  // MARK: Nodes

  var hasReady: Bool {
    !isOver && (firstReady != nil || returnedCount.load(ordering: .relaxed) > 0)
  }

  private var firstReady: (place: Int, node: Int)? {
    let place = head.load(ordering: .relaxed)
    guard place < count else { return nil }
    let node = unsafe list[place].load(ordering: .acquiring)
    return node == 0 ? nil : (place, Int(node) - 1)
  }

  private func take() -> Int? {
    if isOver { return nil }
    if returnedCount.load(ordering: .relaxed) > 0, let node = takeReturned() { return node }
    while let (place, node) = firstReady {
      let taken = head.weakCompareExchange(
        expected: place, desired: place + 1, ordering: .relaxed)
      if taken.exchanged { return node }
    }
    return nil
  }

  private func takeReturned() -> Int? {
    waiting.withLock { waiting in
      defer { returnedCount.store(waiting.returned.count, ordering: .relaxed) }
      return waiting.returned.popLast()
    }
  }

  /// Adds a node that has become ready. ``wakeOne()`` must follow.
  func add(_ node: Int) {
    let place = tail.wrappingAdd(1, ordering: .relaxed).oldValue
    unsafe list[place].store(Int32(node) + 1, ordering: .releasing)
  }

  // MARK: Places

  /// Takes a ready node and a place for it; nil if there is no node or no free place. The caller
  /// leaves the place.
  func takeWithPlace() -> Int? {
    guard !isLimited || places.take() != nil else { return nil }
    if let node = take() { return node }
    leave()
    return nil
  }

  /// Takes another ready node for a caller that has a place. If there is no node, leaves the place.
  func takeOrLeave() -> Int? {
    if let node = take() { return node }
    leave()
    return nil
  }

  /// Gives back a node that was taken, with its place.
  func giveBack(_ node: Int) {
    waiting.withLock { waiting in
      waiting.returned.append(node)
      returnedCount.store(waiting.returned.count, ordering: .relaxed)
    }
    if isLimited { places.leave() }
    wakeOne()
  }

  /// Frees a place.
  func leave() {
    guard isLimited else { return }
    places.leave()
    if isAnybodyWaiting, hasReady { wake() }
  }

  // MARK: Waiting

  /// Whether a node is ready and there is a place for it.
  var canBegin: Bool {
    hasReady && (!isLimited || places.isFree)
  }

  /// Waits until a node is ready and a place is free, or until no further node becomes ready.
  ///
  /// - Returns: Whether there may be a node.
  nonisolated(nonsending) func waitForReady() async -> Bool {
    if isOver { return false }
    if canBegin { return true }
    await withCheckedContinuation { waiter in
      let isOver = waiting.withLock { waiting in
        if !waiting.isOver { waiting.waiters.append(waiter) }
        return waiting.isOver
      }
      if isOver { return waiter.resume() }
      // A task that adds a node or frees a place reads this count afterwards, so at least one of
      // the two tasks sees the change of the other.
      waiterCount.wrappingAdd(1, ordering: .acquiringAndReleasing)
      if canBegin { wakeOne() }
    }
    return !isOver
  }

  /// Wakes one waiting task, if there is one.
  func wakeOne() {
    if isAnybodyWaiting { wake() }
  }

  private var isAnybodyWaiting: Bool {
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

/// Padding against false sharing between its neighbors. Processors fetch cache lines in pairs.
struct CacheLine: Sendable {
  private typealias Line = (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)

  private let lines: (Line, Line) = ((0, 0, 0, 0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0, 0, 0))
}
