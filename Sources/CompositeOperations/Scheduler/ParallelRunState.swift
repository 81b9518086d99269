internal import Synchronization
internal import SystemSupport

/// The shared state of the pullers of one parallel run: the children that are left, the free
/// places, how each child ended, and whether the run has stopped.
@safe @usableFromInline final class ParallelRunState: SharedRun, @unchecked Sendable {
  /// Whether the run stops early: at the first end without a result, never, or at the first result.
  @usableFromInline enum Goal: Sendable { case everyResult, everyEnd, firstResult }

  /// A child that failed or cancelled itself.
  struct Failure: Sendable {
    let index: Int
    /// Nil for a child that cancelled itself.
    let error: (any Error)?
  }

  @usableFromInline let count: Int
  let goal: Goal
  let laneCount: Int

  private let isOrdered: Bool
  /// The places for pullers. A puller runs one child at a time, so there are never more children in
  /// flight than places.
  let places: Places
  private let helpers: Places
  private let failures = Lock<[Failure]>([])
  private let held = Lock<[Int: Cleanup]>([:])
  private let hasHeld = Atomic(false)
  private let firstResult = Atomic(-1)

  // Raw memory, so that taking a child and recording its end retain nothing. Lanes are atomic. Only
  // the task that runs a child writes its state, and other tasks read it when the group of all
  // these tasks has ended. Both are in one allocation, which lives as long as this object.
  private nonisolated(unsafe) let lanes: UnsafeMutablePointer<Lane>
  private nonisolated(unsafe) let states: UnsafeMutablePointer<ChildState>

  /// The smallest number of children of which each worker gets its own share.
  static var longCount: Int { 32 }

  /// - Parameter limit: The most children in flight; `Int.max` for any number.
  @usableFromInline init(count: Int, limit: Int, goal: Goal) {
    precondition(
      count <= Int(UInt32.max),
      "a parallel composite can have at most 4294967295 children (was \(count))")
    self.count = count
    self.goal = goal
    places = Places(limit)
    laneCount = min(count, limit, Processors.count)
    helpers = Places(laneCount - 1)
    // The children of a short list are taken in order, too: searching several lanes costs more than
    // sharing one.
    isOrdered = limit != .max || count < Self.longCount
    let laneSize = laneCount * MemoryLayout<Lane>.stride
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: laneSize + count, alignment: MemoryLayout<Lane>.alignment)
    unsafe lanes = memory.bindMemory(to: Lane.self, capacity: laneCount)
    unsafe states = (memory + laneSize).bindMemory(to: ChildState.self, capacity: count)
    unsafe states.initialize(repeating: .notBegun, count: count)
    for lane in 0..<laneCount {
      let share = (count * lane / laneCount)..<(count * (lane + 1) / laneCount)
      // With a limit, children begin in the order of the list: all workers take from one lane.
      let all = lane == 0 ? 0..<count : 0..<0
      unsafe (lanes + lane).initialize(to: Lane(isOrdered ? all : share))
    }
  }

  deinit {
    unsafe lanes.deinitialize(count: laneCount)
    unsafe UnsafeMutableRawPointer(lanes).deallocate()
  }

  // MARK: Beginning children

  /// Whether the run has not stopped and children are left.
  var goesOn: Bool { !isStopped && left > 0 }

  /// How many children have not been taken.
  var left: Int {
    if isOrdered { return unsafe lanes[0].left }
    var left = 0
    for lane in 0..<laneCount { left += unsafe lanes[lane].left }
    return left
  }

  /// Takes the next child and returns its index; nil if none is left or the run has stopped.
  @inline(__always) func take(for lane: Int) -> Int? {
    if isStopped { return nil }
    if let index = unsafe lanes[isOrdered ? 0 : lane].takeFirst() { return index }
    return isOrdered ? nil : takeElsewhere(lane)
  }

  private func takeElsewhere(_ lane: Int) -> Int? {
    for distance in 1..<max(1, laneCount) {
      if let index = unsafe lanes[(lane + distance) % laneCount].takeLast() { return index }
    }
    return nil
  }

  /// Whether another worker could help: a lane is free for it, and more than one child is left.
  var hasWorkForHelper: Bool { helpers.isFree && goesOn && left > 1 }

  /// Whether another worker could help if all existing workers keep their threads: a lane is free
  /// for it, and a child is left.
  var hasWorkForAnother: Bool { helpers.isFree && goesOn }

  /// Takes a lane for another worker; nil if none is left.
  func takeLane() -> Int? { helpers.take().map { laneCount - $0 } }

  func pullerBegins(on lane: Int) -> UInt64 { unsafe lanes[lane].stack.pullerBegins() }
  func pullerReturned(to lane: Int) { unsafe lanes[lane].stack.pullerReturned() }
  func isOnStack(_ puller: UInt64, of lane: Int) -> Bool { unsafe lanes[lane].stack.holds(puller) }

  func pullerOnStack(of lane: Int) -> UInt64 { unsafe lanes[lane].stack.current }

  // MARK: Ends of children

  /// Records a result that came in time.
  ///
  /// - Returns: Whether the run must stop. The caller then throws, so that its group is cancelled.
  @inline(__always) func endedInResult(_ index: Int, cleanup: Cleanup?) -> Bool {
    unsafe states[index] = .result
    if let cleanup { hold(cleanup, for: index) }
    return goal == .firstResult && won(index)
  }

  private func hold(_ cleanup: @escaping Cleanup, for index: Int) {
    hasHeld.store(true, ordering: .relaxed)
    held.withLock { $0[index] = cleanup }
  }

  /// Records a result that came after the cancellation, and discards it.
  ///
  /// - Returns: Whether the run must stop. The caller then throws, so that its group is cancelled.
  func endedLate(_ index: Int, cleanup: Cleanup?) -> Bool {
    cleanup?()
    return ended(index, in: .lateResult)
  }

  /// Records an end without a result.
  ///
  /// - Returns: Whether the run must stop. The caller then throws, so that its group is cancelled.
  @inline(never) func ended(_ index: Int, in state: ChildState, error: (any Error)? = nil) -> Bool {
    unsafe states[index] = state
    if state.isOwnLoss {
      failures.withLock { $0.append(Failure(index: index, error: error)) }
    }
    if goal == .everyResult { stop() }
    return goal == .everyResult
  }

  /// Records the error that a child threw.
  ///
  /// - Returns: Whether the run must stop. The caller then throws, so that its group is cancelled.
  func ended(_ index: Int, with error: any Error, wasCancelled: Bool) -> Bool {
    let state = ChildState(endedBy: error, wasCancelled: wasCancelled)
    return ended(index, in: state, error: state == .error ? error : nil)
  }

  private func won(_ index: Int) -> Bool {
    _ = firstResult.compareExchange(expected: -1, desired: index, ordering: .relaxed)
    stop()
    return true
  }

  // MARK: After the run

  @usableFromInline func state(of index: Int) -> ChildState { unsafe states[index] }

  /// Whether every child ended in a result, in time.
  @usableFromInline var isComplete: Bool {
    for index in 0..<count where unsafe states[index] != .result { return false }
    return true
  }

  /// The child with the first result; nil if the goal is not the first result, or if none came.
  var winner: Int? {
    let index = firstResult.load(ordering: .relaxed)
    return index < 0 ? nil : index
  }

  /// The children that failed or cancelled themselves, in the order of time.
  var causes: [Int] { failures.withLock { $0.map(\.index) } }

  /// The errors of the children that failed, by index.
  @usableFromInline var errors: [Int: any Error] {
    var errors: [Int: any Error] = [:]
    for failure in failures.withLock({ $0 }) { errors[failure.index] = failure.error }
    return errors
  }

  /// The closures that discard results, by index, for results that no caller receives.
  var cleanups: [Int: Cleanup] { held.withLock { $0 } }

  /// Whether some of the results must be discarded if they are not returned.
  @usableFromInline var holdsCleanups: Bool { hasHeld.load(ordering: .relaxed) }
}
