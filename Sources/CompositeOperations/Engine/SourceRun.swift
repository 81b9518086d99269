internal import Synchronization

/// One run over the children of a source, a limited number of them in flight.
///
/// As in a ``Crew``, a puller runs one child after another, and the next puller begins when the
/// ones before it wait. What the run keeps grows with the results that it keeps, and else with the
/// number of children in flight.
final class SourceRun<Child: ComposableOperation>: Sendable {
  /// Uses a result as it comes. Called for one result at a time.
  typealias Consumer = nonisolated(nonsending) @Sendable (Child.Success) async throws -> Void

  private struct Stop: Error {}

  private let source: ChildSource<Child>
  private let goal: ParallelBoard.Goal
  private let consumer: Consumer?
  private let consumption = Turnstile()
  private let limit: Int
  private let places: Atomic<Int>
  private let hasStopped = Atomic(false)
  private let record: Lock<SourceRecord<Child>>

  /// - Parameter consumer: Uses the results; if nil they are kept.
  init(
    _ source: ChildSource<Child>, limit: Int, goal: ParallelBoard.Goal, consumer: Consumer?
  ) {
    self.source = source
    self.goal = goal
    self.consumer = consumer
    self.limit = limit
    places = Atomic(limit)
    record = Lock(SourceRecord(keepsResults: consumer == nil))
  }

  /// Runs the children and returns what became of them, when all that began have ended.
  nonisolated(nonsending) func run(in context: OperationContext) async -> SourceRecord<Child> {
    let context = context.oneDeeper
    if context.isTooDeep {
      await withDiscardingTaskGroup { group in
        group.addTask { await self.runAll(in: context.onFreshStack) }
      }
    } else {
      await runAll(in: context)
    }
    return record.withLock { $0 }
  }

  private nonisolated(nonsending) func runAll(in context: OperationContext) async {
    let isReproducible = Task.hasPreferredExecutor
    // Once is enough, unless a child cancels the very task it runs in and others are left over.
    repeat {
      try? await withThrowingDiscardingTaskGroup { group in
        for _ in 1..<min(Processors.count, limit)
        where isReproducible || Helpers.hire() {
          group.addTask { try await self.help(in: context.onFreshStack, isHired: !isReproducible) }
        }
        while !isStopped, !Task.isCancelled, await source.isReady(), takePlace() {
          group.addImmediateTask { try await self.pull(in: context) }
        }
      }
    } while !isStopped && !Task.isCancelled && !source.isExhausted
  }

  // MARK: Pullers

  /// A puller on another processor.
  private nonisolated(nonsending) func help(
    in context: OperationContext, isHired: Bool
  ) async throws {
    try await withThrowingDiscardingTaskGroup { group in
      if takePlace() { group.addImmediateTask { try await self.pull(in: context.oneDeeper) } }
      if isHired { Helpers.release() }
    }
  }

  private var isStopped: Bool { hasStopped.load(ordering: .relaxed) }

  private func takePlace() -> Bool {
    if places.wrappingSubtract(1, ordering: .relaxed).newValue >= 0 { return true }
    leavePlace()
    return false
  }

  private func leavePlace() { places.wrappingAdd(1, ordering: .relaxed) }

  private struct Next: Sendable {
    let index: Int
    let child: Child
  }

  /// Runs children one after another, in the place that the caller has taken.
  private nonisolated(nonsending) func pull(in context: OperationContext) async throws {
    defer { leavePlace() }
    var slice = Slice(isReproducible: Task.hasPreferredExecutor)
    while let next = try await next() {
      if await run(next, in: context) {
        hasStopped.store(true, ordering: .relaxed)
        throw Stop()
      }
      if slice.isOver {
        await Task.yield()
        slice = Slice(isReproducible: false)
      }
    }
  }

  private nonisolated(nonsending) func next() async throws -> Next? {
    do {
      return try await source.next(
        ifWanted: { !isStopped && !Task.isCancelled },
        take: { child in Next(index: record.withLock { $0.childBegins() }, child: child) })
    } catch {
      // Cancelled from outside, or by a sibling: the source only does what it is told.
      if Task.isCancelled { return nil }
      record.withLock { $0.sourceFailed(with: error) }
      if goal == .everyEnd { return nil }
      hasStopped.store(true, ordering: .relaxed)
      throw Stop()
    }
  }

  // MARK: Children

  /// Runs a child and notes how it ended.
  ///
  /// - Returns: Whether the run is to stop.
  private nonisolated(nonsending) func run(_ next: Next, in context: OperationContext) async -> Bool
  {
    let end = await context.end(of: next.child)
    switch end.outcome {
    case .result(let value):
      if let consumer { return await consume(value, of: next, end.disposal, by: consumer) }
      record.withLock { $0.ended(next.index, with: value, disposal: end.disposal) }
      return false
    case .error(let error):
      return lost(next, in: .error, error)
    case .cancelled:
      return lost(next, in: Task.isCancelled ? .cancelledWithComposite : .cancelledItself)
    }
  }

  private nonisolated(nonsending) func consume(
    _ value: Child.Success, of next: Next, _ disposal: Disposal?, by consumer: Consumer
  ) async -> Bool {
    await consumption.enter()
    defer { consumption.leave() }
    if Task.isCancelled {
      disposal?()
      return lost(next, in: .cancelledWithComposite)
    }
    do {
      try await consumer(value)
      return false
    } catch {
      if Task.isCancelled { return lost(next, in: .cancelledWithComposite) }
      return error.meansCancellation
        ? lost(next, in: .cancelledItself) : lost(next, in: .error, error)
    }
  }

  private func lost(_ next: Next, in state: ChildState, _ error: (any Error)? = nil) -> Bool {
    let loss = SourceRecord<Child>.Loss(
      index: next.index, name: next.child.operationName, state: state, error: error)
    record.withLock { $0.ended(loss) }
    return goal == .everyResult
  }
}
