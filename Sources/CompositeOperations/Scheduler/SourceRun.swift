internal import Synchronization
internal import SystemSupport

/// One run over the children of a source, with a limited number of children in flight.
///
/// As in a ``ParallelScheduler``, a puller runs one child after another, and the next puller starts when the
/// previous ones wait. The memory in use grows with the results if they are kept, and otherwise
/// with the number of children in flight. The run does not know the type of the results: its
/// creator moves them.
final class SourceRun: SharedRun, @unchecked Sendable {
  /// The use of the results.
  enum Results: Sendable {
    case kept(in: SlotBlocks)
    case consumed(Consumption)

    var consumption: Consumption? {
      switch self {
      case .kept: nil
      case .consumed(let consumption): consumption
      }
    }
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
  let places: Places
  let begun = Atomic(0)
  private let hasBeenCancelled = Atomic(false)
  /// The task that consumes in place of a puller whose task was cancelled by the consumer.
  private let substitute = Lock<Task<Action, Never>?>(nil)
  /// The feeder that is a standby worker and has not been started, if there is one.
  let standby = StandbyPlace<Feeder>()
  /// The number of workers that may still start in addition to the caller's.
  let workersLeft: Places
  let isReproducible: Bool
  private let isObserved: Bool
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
    isObserved = context.scope?.isObserved == true
  }

  /// Whether the run has been cancelled from outside.
  var isCancelled: Bool { hasBeenCancelled.load(ordering: .relaxed) }

  override func hasStoppedEarly() { cancelSubstitute() }

  private func cancelSubstitute() { substitute.withLock(\.self)?.cancel() }

  /// Runs a body in a task that is cancelled only with the run.
  nonisolated(nonsending) func runInSubstitute(
    _ body: @escaping @Sendable () async -> Action
  ) async -> Action {
    let task = UnstructuredTasks.start(on: Task.preferredExecutor, body)
    substitute.withLock { $0 = task }
    // A stop or a cancellation before this has not found the task.
    if isStopped || isCancelled { task.cancel() }
    defer { withExtendedLifetime(substitute.withLock { $0.take() }) {} }
    return await task.value
  }

  /// Runs the children, and returns the record when all that began have ended.
  nonisolated(nonsending) func run() async -> Record {
    if source.expectedCount > 0 { context.expectChildren(source.expectedCount) }
    await withTaskCancellationHandler {
      if context.isTooDeep {
        await UnstructuredTasks.run { await self.lead(in: self.context.onFreshStack) }
      } else {
        await lead(in: context)
      }
    } onCancel: {
      hasBeenCancelled.store(true, ordering: .relaxed)
      cancelSubstitute()
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
    // Not in the frame of this function: with it, the frames of most children would not fit into the
    // first kilobyte of the task's memory, and each child would take another kilobyte.
    let place = UnsafeMutablePointer<Begun>.allocate(capacity: 1)
    defer { unsafe place.deallocate() }
    var own = await ownPlace()
    defer { leave(own) }
    while try await unsafe begin(at: place, own, as: task) {
      var action: Action
      do {
        if isObserved {
          action = await unsafe attend(place, in: context)
        } else {
          unsafe place.pointee.cleanup = try await unsafe place.pointee.child.perform(
            into: place.pointee.place.slot, in: context)
          action = unsafe task.isCancelled ? lostLate(place.pointee) : gained(place)
        }
      } catch {
        action = unsafe lost(place.pointee, with: error, wasCancelled: task.isCancelled)
      }
      if action == .consume {
        action = await unsafe consume(at: place, &own, &slice, &pace, as: task)
      } else {
        unsafe place.deinitialize(count: 1)
      }
      switch action {
      case .proceed, .consume: break
      case .proceedInNewPlace: own = await ownPlace()
      case .stop: throw Stop()
      }
      if pace.isTimeToLook() { await lookAround(&slice, &pace) }
    }
  }

  /// Starts the standby worker if children take long, and yields the thread from time to time.
  @inline(never) nonisolated(nonsending) func lookAround(
    _ slice: inout TimeSlice, _ pace: inout SamplingInterval
  ) async {
    if let each = pace.look(), each > ExtraWorkers.worthwhile, hasWorkForAnother {
      startStandby()
    }
    if slice.isOver || isReproducible {
      await Task.yield()
      slice = TimeSlice(isReproducible: isReproducible)
    }
  }
}
