internal import Synchronization

/// The shared state of the workers of a run over a list: the children that are left, and the first
/// result.
@safe @usableFromInline final class ListRunState: ScheduledRun, @unchecked Sendable {
  @usableFromInline let count: Int
  private let isOrdered: Bool
  private let firstResult = Atomic(-1)

  /// The smallest number of children of which each worker gets its own share.
  static var longCount: Int { 32 }

  /// - Parameter limit: The most children in flight; `Int.max` for any number.
  @usableFromInline init(count: Int, limit: Int, goal: Goal) {
    precondition(
      count <= Int(UInt32.max),
      "a parallel composite can have at most 4294967295 children (was \(count))")
    self.count = count
    // With a limit, children begin in the order of the list: all workers take from one lane. So
    // do they if the list is short: searching several lanes costs more than sharing one.
    isOrdered = limit != .max || count < Self.longCount
    super.init(count: count, limit: limit, goal: goal, isShared: !isOrdered)
  }

  // MARK: Beginning children

  /// Whether the run has not stopped and children are left.
  var mayHaveWork: Bool { !isStopped && left > 0 }

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

  // MARK: Ends of children

  /// Whether the run must stop after a result. The caller then throws, so that its group is
  /// cancelled.
  @inline(__always) func stopsAfterResult(of index: Int) -> Bool {
    goal == .firstResult && won(index)
  }

  private func won(_ index: Int) -> Bool {
    _ = firstResult.compareExchange(expected: -1, desired: index, ordering: .relaxed)
    stop()
    return true
  }

  // MARK: After the run

  /// Whether every child ended in a result, in time.
  @usableFromInline var isComplete: Bool {
    for index in 0..<count where state(of: index) != .result { return false }
    return true
  }

  /// The child with the first result; nil if the goal is not the first result, or if none came.
  var winner: Int? {
    let index = firstResult.load(ordering: .relaxed)
    return index < 0 ? nil : index
  }
}
