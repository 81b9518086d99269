extension GraphBoard {
  /// The nodes that are ready, the places, and who waits for both.
  struct ReadyQueue: Sendable {
    typealias Waiter = CheckedContinuation<Void, Never>

    private var ready: [Int32]
    private var head = 0
    private var places: Int
    private(set) var isOver: Bool
    private var waiters: [Waiter] = []

    init(_ ready: [Int32], places: Int, isOver: Bool) {
      self.ready = ready
      self.places = places
      self.isOver = isOver
    }

    var hasReady: Bool { !isOver && head < ready.count }
    private var canBegin: Bool { hasReady && places > 0 }

    private mutating func take() -> Int {
      let node = Int(ready[head])
      head += 1
      if head == ready.count {
        ready.removeAll(keepingCapacity: true)
        head = 0
      }
      return node
    }

    mutating func takeWithPlace() -> Int? {
      guard canBegin else { return nil }
      places -= 1
      return take()
    }

    mutating func takeOrLeave() -> Int? {
      if hasReady { return take() }
      places += 1
      return nil
    }

    mutating func gaveBack(_ node: Int) -> Waiter? {
      if head > 0 {
        head -= 1
        ready[head] = Int32(node)
      } else {
        ready.insert(Int32(node), at: 0)
      }
      return left()
    }

    mutating func left() -> Waiter? {
      places += 1
      return wakeOne()
    }

    mutating func released(_ nodes: [Int32]) -> Waiter? {
      ready += nodes
      return wakeOne()
    }

    mutating func wakeOne() -> Waiter? { canBegin ? waiters.popLast() : nil }

    /// - Returns: The waiter itself, if there is nothing to wait for.
    mutating func waited(_ waiter: Waiter) -> Waiter? {
      if isOver || canBegin { return waiter }
      waiters.append(waiter)
      return nil
    }

    mutating func ended() -> [Waiter] {
      isOver = true
      defer { waiters = [] }
      return waiters
    }
  }
}
