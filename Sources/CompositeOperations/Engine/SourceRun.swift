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

  private struct Stop: Error {}

  private let source: ChildSource
  private let goal: ParallelBoard.Goal
  private let results: Results
  private let limit: Int
  private let consumption = Turnstile()
  private let places: Atomic<Int>
  private let hasStopped = Atomic(false)
  private let begun = Atomic(0)
  private let stack = PullerStack()
  private let helpers: Atomic<Int>
  private let isHelperWelcome = Atomic(false)
  private let record = Lock(Record())

  init(_ source: ChildSource, limit: Int, goal: ParallelBoard.Goal, results: Results) {
    self.source = source
    self.goal = goal
    self.results = results
    self.limit = limit
    places = Atomic(limit)
    helpers = Atomic(min(Processors.count, limit) - 1)
  }

  /// Runs the children and returns what became of them, when all that began have ended.
  nonisolated(nonsending) func run(in context: OperationContext) async -> Record {
    let context = context.oneDeeper
    if context.isTooDeep {
      await withDiscardingTaskGroup { group in
        group.addTask { await self.feed(in: context.onFreshStack) }
      }
    } else {
      await feed(in: context)
    }
    return record.withLock {
      if !source.isExhausted { $0.isCutShort = true }
      return $0
    }
  }

  /// Begins pullers while there are places and children.
  private nonisolated(nonsending) func feed(in context: OperationContext) async {
    // Once is enough, unless a child cancels the very task it runs in and others are left over.
    repeat {
      try? await withThrowingDiscardingTaskGroup { group in
        while !isStopped, !Task.isCancelled, await source.isReady(), takePlace() {
          hireHelpers(in: &group, context)
          let puller = stack.pullerBegins()
          group.addImmediateTask { try await self.pull(as: puller, in: context) }
          stack.pullerReturned()
        }
      }
    } while !isStopped && !Task.isCancelled && !source.isExhausted
  }
}

// MARK: - Helpers

extension SourceRun {
  private func hireHelpers(
    in group: inout ThrowingDiscardingTaskGroup<any Error>, _ context: OperationContext
  ) {
    let isReproducible = Task.hasPreferredExecutor
    while helpers.load(ordering: .relaxed) > 0 {
      let isWelcome = isReproducible || isHelperWelcome.load(ordering: .relaxed) && Helpers.hire()
      guard isWelcome else { return }
      helpers.wrappingSubtract(1, ordering: .relaxed)
      group.addTask { try await self.help(in: context.onFreshStack, isHired: !isReproducible) }
    }
  }

  /// A puller on another processor.
  private nonisolated(nonsending) func help(
    in context: OperationContext, isHired: Bool
  ) async throws {
    try await withThrowingDiscardingTaskGroup { group in
      if takePlace() {
        group.addImmediateTask { try await self.pull(as: nil, in: context.oneDeeper) }
      }
      if isHired { Helpers.release() }
    }
  }
}

// MARK: - Pullers

extension SourceRun {
  private var isStopped: Bool { hasStopped.load(ordering: .relaxed) }

  private func takePlace() -> Bool {
    if places.wrappingSubtract(1, ordering: .relaxed).newValue >= 0 { return true }
    leavePlace()
    return false
  }

  private func leavePlace() { places.wrappingAdd(1, ordering: .relaxed) }

  /// Runs children one after another, in the place that the caller has taken.
  ///
  /// - Parameter puller: The number on the stack; nil for a helper's.
  private nonisolated(nonsending) func pull(
    as puller: UInt64?, in context: OperationContext
  ) async throws {
    defer { leavePlace() }
    // Asked a few times a child without being counted; valid, because it is the task that runs this.
    guard let task = unsafe withUnsafeCurrentTask(body: { unsafe $0 }) else { return }
    let isReproducible = Task.hasPreferredExecutor
    var slice = Slice(isReproducible: isReproducible)
    var pace = Pace(isReproducible: isReproducible)
    let slots = slotsOfPuller
    let own = slots?.add()
    while let begun = try await unsafe begin(own, as: task) {
      if await unsafe run(begun, in: context, as: task) { throw stop() }
      guard pace.isTimeToLook() else { continue }
      if let each = pace.look(), each > Helpers.worthwhile, canHire {
        isHelperWelcome.store(true, ordering: .relaxed)
        // Back to the one that began this puller, which hires the helper and begins another.
        if let puller, stack.holds(puller) { return }
      }
      if slice.isOver || isReproducible {
        await Task.yield()
        slice = Slice(isReproducible: isReproducible)
      }
    }
    withExtendedLifetime(slots) {}
  }

  private var canHire: Bool { helpers.load(ordering: .relaxed) > 0 && Helpers.isAvailable }

  private var slotsOfPuller: SlotBlocks? {
    switch results {
    case .kept: nil
    case .consumed(_, _, let makeSlot): makeSlot()
    }
  }

  private func stop() -> Stop {
    hasStopped.store(true, ordering: .relaxed)
    return Stop()
  }
}

// MARK: - Children

extension SourceRun {
  /// A child that is the puller's to run, and where its result goes.
  private struct Begun {
    let child: any ComposableOperation
    let index: Int
    let place: SlotBlocks.Place
  }

  /// Takes the next child.
  ///
  /// - Parameter own: The puller's own slot, where results are consumed.
  private nonisolated(nonsending) func begin(
    _ own: SlotBlocks.Place?, as task: UnsafeCurrentTask
  ) async throws -> Begun? {
    do {
      return try await source.next(
        ifWanted: { unsafe !isStopped && !task.isCancelled },
        take: { child in
          let index = begun.wrappingAdd(1, ordering: .relaxed).oldValue
          switch results {
          case .kept(let blocks): return Begun(child: child, index: index, place: blocks.add())
          case .consumed: return own.map { Begun(child: child, index: index, place: $0) }
          }
        })
    } catch {
      // Cancelled from outside, or by a sibling: the source only does what it is told.
      if unsafe task.isCancelled {
        record.withLock { $0.isCutShort = true }
        return nil
      }
      record.withLock { $0.sourceError = error }
      if goal == .everyEnd { return nil }
      throw stop()
    }
  }

  /// Runs a child and notes how it ended.
  ///
  /// - Returns: Whether the run is to stop.
  private nonisolated(nonsending) func run(
    _ begun: Begun, in context: OperationContext, as task: UnsafeCurrentTask
  ) async -> Bool {
    if context.scope != nil { return await unsafe attend(begun, in: context, as: task) }
    let disposal: Disposal?
    do {
      disposal = try await begun.child.perform(into: begun.place.slot, in: context)
    } catch {
      return lost(begun, with: error, wasCancelled: unsafe task.isCancelled)
    }
    if unsafe task.isCancelled { return lostLate(begun, disposal) }
    return await unsafe succeeded(begun, disposal, as: task)
  }

  /// The same where somebody looks: through the context, which tells of the child.
  private nonisolated(nonsending) func attend(
    _ begun: Begun, in context: OperationContext, as task: UnsafeCurrentTask
  ) async -> Bool {
    func attend(_ child: some ComposableOperation) async -> RunEnd<Void> {
      let end = await context.end(of: child)
      return RunEnd(end.outcome.map { begun.place.slot.initialize(to: $0) }, disposal: end.disposal)
    }
    let end = await attend(begun.child)
    switch end.outcome {
    case .result: return await unsafe succeeded(begun, end.disposal, as: task)
    case .error(let error): return lost(begun, in: .error, error)
    case .cancelled:
      return lost(
        begun, in: unsafe task.isCancelled ? .cancelledWithComposite : .cancelledItself)
    }
  }

  private nonisolated(nonsending) func succeeded(
    _ begun: Begun, _ disposal: Disposal?, as task: UnsafeCurrentTask
  ) async -> Bool {
    switch results {
    case .kept:
      begun.place.note(.result)
      if let disposal { record.withLock { $0.disposals[begun.index] = disposal } }
      return false
    case .consumed(let consume, _, _):
      return await unsafe self.consume(begun, disposal, by: consume, as: task)
    }
  }

  /// Has a result used, when those before it have been.
  private nonisolated(nonsending) func consume(
    _ begun: Begun, _ disposal: Disposal?, by consume: Consumer, as task: UnsafeCurrentTask
  ) async -> Bool {
    await consumption.enter()
    defer { consumption.leave() }
    if unsafe isStopped || task.isCancelled { return lostLate(begun, disposal) }
    do {
      try await consume(begun.place.slot)
      return false
    } catch {
      return lost(begun, with: error, wasCancelled: unsafe task.isCancelled)
    }
  }

  /// A result that came after the cancellation.
  private func lostLate(_ begun: Begun, _ disposal: Disposal?) -> Bool {
    disposal?()
    if case .consumed(_, let drop, _) = results { drop(begun.place.slot) }
    return lost(begun, in: .lateResult)
  }

  private func lost(_ begun: Begun, with error: any Error, wasCancelled: Bool) -> Bool {
    if !wasCancelled, !error.meansCancellation {
      return lost(begun, in: .error, error)
    }
    (error as? any ValueCarrying)?.discardValues()
    return lost(begun, in: wasCancelled ? .cancelledWithComposite : .cancelledItself)
  }

  private func lost(_ begun: Begun, in state: ChildState, _ error: (any Error)? = nil) -> Bool {
    begun.place.note(state)
    let loss = Loss(
      index: begun.index, name: begun.child.operationName, state: state, error: error)
    record.withLock { $0.losses.append(loss) }
    guard goal == .everyResult else { return false }
    hasStopped.store(true, ordering: .relaxed)
    return true
  }
}
