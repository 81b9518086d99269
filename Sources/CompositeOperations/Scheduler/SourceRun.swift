internal import Synchronization
internal import SystemSupport

/// One run over the children of a source, with a limited number of children in flight.
///
/// As in a ``ParallelScheduler``, a puller runs one child after another, and the next puller starts when the
/// previous ones wait. The memory in use grows with the results if they are kept, and otherwise
/// with the number of children in flight. The run does not know the type of the results: its
/// creator moves them.
final class SourceRun: SharedRun, @unchecked Sendable {
  /// Uses the result in a slot, and leaves the slot empty. Called for one result at a time.
  typealias Consumer = nonisolated(nonsending) @Sendable (ResultSlot) async throws -> Void

  /// The use of the results.
  enum Results: Sendable {
    case kept(in: SlotBlocks)
    /// Every puller has one slot, whose value is used or dropped before the puller's next child.
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

  /// The state of the run at its end, without the results.
  struct Record: Sendable {
    /// The children without a result, in the order of time.
    var losses: [Loss] = []
    var cleanups: [Int: Cleanup] = [:]
    var sourceError: (any Error)?
    /// Whether the run ended before all children of the source had been taken.
    var isCutShort = false

    var isComplete: Bool { losses.isEmpty && sourceError == nil && !isCutShort }
  }

  let source: ChildSource
  let goal: ParallelRunState.Goal
  let results: Results
  let consumption = AsyncMutex()
  let places: Places
  let begun = Atomic(0)
  /// The feeder that is a standby worker and has not been started, if there is one.
  let standby = StandbyPlace<Feeder>()
  /// The number of workers that may still start in addition to the caller's.
  let workersLeft: Places
  let isReproducible: Bool
  let context: OperationContext
  let record = Lock(Record())

  init(
    _ source: ChildSource, limit: Int, goal: ParallelRunState.Goal, results: Results,
    in context: OperationContext
  ) {
    self.source = source
    self.goal = goal
    self.results = results
    self.context = context.oneDeeper
    places = Places(limit)
    workersLeft = Places(min(Processors.count, limit) - 1)
    isReproducible = Task.hasPreferredExecutor
  }

  /// Runs the children, and returns the record when all that began have ended.
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
  /// Runs children one after another, in the place that the caller has taken.
  nonisolated(nonsending) func pull(in context: OperationContext) async throws {
    defer { places.leave() }
    // An unretained reference, to check for cancellation. It is valid, because this task runs here.
    let task = unsafe UnsafeCurrentTask.own
    var slice = TimeSlice(isReproducible: isReproducible)
    var pace = SamplingInterval(isReproducible: isReproducible)
    let slots = slotsOfPuller
    let own = slots?.add()
    while let begun = try await unsafe begin(own, as: task) {
      let isToStop = await unsafe run(begun, in: context, as: task)
      source.childEnded?()
      if isToStop { throw Stop() }
      guard pace.isTimeToLook() else { continue }
      if let each = pace.look(), each > ExtraWorkers.worthwhile, hasWorkForAnother {
        startStandby()
      }
      if slice.isOver || isReproducible {
        await Task.yield()
        slice = TimeSlice(isReproducible: isReproducible)
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
}
