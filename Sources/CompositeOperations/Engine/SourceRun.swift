internal import Synchronization

/// One run over the children of a source, a limited number of them in flight.
///
/// As in a ``Crew``, a puller runs one child after another, and the next puller begins when those
/// before it wait. What the run keeps grows with the results, where they are kept, and else with the
/// number of children in flight. It knows nothing of the results' type: they are moved by those who
/// made it.
final class SourceRun: Sendable {
  /// Uses the result in a slot, and leaves the slot empty. Called for one result at a time.
  typealias Consumer = nonisolated(nonsending) @Sendable (ResultSlot) async throws -> Void

  /// What becomes of results.
  enum Results: Sendable {
    case kept(in: SlotBlocks)
    /// Every puller has one slot, and what is in it is used or dropped before its next child.
    case consumed(
      by: Consumer, dropped: @Sendable (ResultSlot) -> Void, makeSlot: @Sendable () -> SlotBlocks)
  }

  /// A child that ended without a result.
  struct Loss: Sendable {
    let index: Int
    let name: String
    let state: ChildState
    let error: (any Error)?
  }

  /// What is known when the run is over, beside the results.
  struct Record: Sendable {
    /// In the order of time.
    var losses: [Loss] = []
    var disposals: [Int: Disposal] = [:]
    var sourceError: (any Error)?
    /// Whether the run was cancelled before the source had said that there are no more children.
    var isCutShort = false

    var isComplete: Bool { losses.isEmpty && sourceError == nil && !isCutShort }
  }

  typealias Group = WorkerReserve.Group
  typealias Stop = WorkerReserve.Stop

  let source: ChildSource
  let goal: ParallelBoard.Goal
  let results: Results
  let consumption = Turnstile()
  let places: Atomic<Int>
  let hasStopped = Atomic(false)
  let begun = Atomic(0)
  let reserve = WorkerReserve()
  /// The feeder whose standby worker has been added and not been started, if there is one.
  let standby = StandbyPlace<Feeder>()
  /// How many workers may still begin beside the caller's.
  let workersLeft: Atomic<Int>
  let isReproducible: Bool
  let context: OperationContext
  let record = Lock(Record())

  init(
    _ source: ChildSource, limit: Int, goal: ParallelBoard.Goal, results: Results,
    in context: OperationContext
  ) {
    self.source = source
    self.goal = goal
    self.results = results
    self.context = context.oneDeeper
    places = Atomic(limit)
    workersLeft = Atomic(min(Processors.count, limit) - 1)
    isReproducible = Task.hasPreferredExecutor
  }

  /// Runs the children and returns what became of them, when all that began have ended.
  nonisolated(nonsending) func run() async -> Record {
    if source.expectedCount > 0 { context.expectChildren(source.expectedCount) }
    if context.isTooDeep {
      await UnstructuredTasks.run { await self.lead(in: self.context.onFreshStack) }
    } else {
      await lead(in: context)
    }
    return record.withLock {
      if !source.hasGivenAll { $0.isCutShort = true }
      return $0
    }
  }
}

// MARK: - Pullers

extension SourceRun {
  var isStopped: Bool { hasStopped.load(ordering: .relaxed) }

  func takePlace() -> Bool {
    if places.wrappingSubtract(1, ordering: .relaxed).newValue >= 0 { return true }
    leavePlace()
    return false
  }

  private func leavePlace() { places.wrappingAdd(1, ordering: .relaxed) }

  /// Runs children one after another, in the place that the caller has taken.
  ///
  nonisolated(nonsending) func pull(in context: OperationContext) async throws {
    defer { leavePlace() }
    // Asked a few times a child without being counted; valid, because it is the task that runs this.
    let task = unsafe UnsafeCurrentTask.own
    var slice = Slice(isReproducible: isReproducible)
    var pace = Pace(isReproducible: isReproducible)
    let slots = slotsOfPuller
    let own = slots?.add()
    while let begun = try await unsafe begin(own, as: task) {
      let isToStop = await unsafe run(begun, in: context, as: task)
      source.childEnded?()
      if isToStop { throw stop() }
      guard pace.isTimeToLook() else { continue }
      if let each = pace.look(), each > ExtraWorkers.worthwhile, hasWorkForAnother {
        startStandby()
      }
      if slice.isOver || isReproducible {
        await Task.yield()
        slice = Slice(isReproducible: isReproducible)
      }
    }
    withExtendedLifetime(slots) {}
  }

  private var slotsOfPuller: SlotBlocks? {
    switch results {
    case .kept: nil
    case .consumed(_, _, let makeSlot): makeSlot()
    }
  }

  func stop() -> Stop {
    hasStopped.store(true, ordering: .relaxed)
    reserve.alarm.ring()
    return Stop()
  }
}
