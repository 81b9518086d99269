internal import Synchronization

/// The consumption of the results of a ``SourceRun``: one at a time, in the order in which they
/// arrived. A child keeps its place until its result has been consumed.
///
/// If a puller has a result while another puller consumes one, it adds its result, with the place, to
/// the queue of that puller, and continues with the next child in another place.
@safe final class Consumption: Sendable {
  /// Uses the result in a slot, and leaves the slot empty.
  typealias Consumer = nonisolated(nonsending) @Sendable (ResultSlot) async throws -> Void

  let consume: Consumer
  /// Releases the result in a slot, and leaves the slot empty.
  let drop: @Sendable (ResultSlot) -> Void
  private let machine: Lock<StateMachine>
  /// Whether a place was free when a task last held the lock.
  private let mayHavePlace = Atomic(true)

  /// - Parameter limit: The number of places.
  init(
    by consume: @escaping Consumer, dropping drop: @escaping @Sendable (ResultSlot) -> Void,
    slots: SlotBlocks, limit: Int
  ) {
    self.consume = consume
    self.drop = drop
    machine = Lock(StateMachine(slots, free: limit))
  }

  /// Waits until a place is free, and takes it.
  nonisolated(nonsending) func takePlace() async -> SlotBlocks.Place {
    // Many results are consumed in less time than a suspension takes.
    for _ in 0..<2_000 where mayHavePlace.load(ordering: .relaxed) {
      if let place = change({ $0.takePlace() }) { return place }
    }
    return await withCheckedContinuation { waiter in
      let place = change { $0.waited(waiter) }
      if let place { waiter.resume(returning: place) }
    }
  }

  /// Frees a place whose slot is empty.
  func leave(_ place: SlotBlocks.Place) {
    change { $0.freed(place) }?.resume(returning: place)
  }

  /// Changes the number of free places.
  private func change<Result: Sendable>(_ body: (inout StateMachine) -> Result) -> Result {
    machine.withLock { machine in
      defer { mayHavePlace.store(machine.hasPlace, ordering: .relaxed) }
      return body(&machine)
    }
  }

  /// Adds a result.
  ///
  /// - Returns: Whether the caller must consume it, and after that the results that ``next(at:)``
  ///   takes. Otherwise it has left the result and its place to another task.
  func add(_ result: SourceRun.Begun) -> Bool { machine.withLock { $0.added(result) } }

  /// Takes the next result for the task that consumes.
  ///
  /// - Parameter place: Initialized with the result, if there is one.
  /// - Returns: Whether there is one. If not, the task no longer consumes.
  func next(at place: UnsafeMutablePointer<SourceRun.Begun>) -> Bool {
    guard let next = machine.withLock({ $0.next() }) else { return false }
    unsafe place.initialize(to: next)
    return true
  }
}

extension Consumption {
  struct StateMachine: Sendable {
    typealias Waiter = CheckedContinuation<SlotBlocks.Place, Never>

    private let slots: SlotBlocks
    private var free: Int
    /// Places that have been used and are free.
    private var used: [SlotBlocks.Place] = []
    private var waiters = FIFOQueue<Waiter>()
    private var isConsuming = false
    private var results = FIFOQueue<SourceRun.Begun>()

    init(_ slots: SlotBlocks, free: Int) {
      self.slots = slots
      self.free = free
    }

    var hasPlace: Bool { free > 0 }

    mutating func takePlace() -> SlotBlocks.Place? {
      if free == 0 { return nil }
      free -= 1
      return used.popLast() ?? slots.add()
    }

    /// - Returns: The place, if one is free.
    mutating func waited(_ waiter: Waiter) -> SlotBlocks.Place? {
      if let place = takePlace() { return place }
      waiters.append(waiter)
      return nil
    }

    /// - Returns: The task that gets the place, if one waits.
    mutating func freed(_ place: SlotBlocks.Place) -> Waiter? {
      if let waiter = waiters.popFirst() { return waiter }
      used.append(place)
      free += 1
      return nil
    }

    mutating func added(_ result: SourceRun.Begun) -> Bool {
      if !isConsuming {
        isConsuming = true
        return true
      }
      results.append(result)
      return false
    }

    mutating func next() -> SourceRun.Begun? {
      let next = results.popFirst()
      isConsuming = next != nil
      return next
    }
  }
}
