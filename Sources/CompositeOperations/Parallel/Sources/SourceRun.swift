internal import Synchronization
internal import ThreadSupport

/// One run over the children of a source that creates them one by one.
///
/// The memory in use grows with the results if they are kept, and otherwise with the number of
/// children in flight. The run does not know the type of the results: its creator moves them.
final class SourceRun: ScheduledRun, WorkSource, @unchecked Sendable {
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

  /// The state of the run at its end, without the results.
  struct Record: Sendable {
    /// The children without a result, in the order of time.
    var losses: [ScheduledRun.Loss] = []
    var cleanups: [Int: Cleanup] = [:]
    var sourceError: (any Error)?
    /// Whether the run ended before all children of the source had been taken.
    var isCutShort = false

    var isComplete: Bool { losses.isEmpty && sourceError == nil && !isCutShort }
  }

  let children: ChildSource
  let results: Results
  let begun = Atomic(0)
  private let hasBeenCancelled = Atomic(false)
  /// The task that consumes in place of a puller whose task was cancelled by the consumer.
  private let substitute = Lock<Task<Action, Never>?>(nil)
  let isObserved: Bool
  let context: OperationContext
  let sourceError = Lock<(any Error)?>(nil)
  let isCutShort = Atomic(false)

  init(
    _ children: ChildSource, limit: Int, goal: Goal, results: Results,
    in context: OperationContext
  ) {
    self.children = children
    self.results = results
    self.context = context.oneDeeper
    isObserved = context.scope?.isObserved == true
    super.init(count: nil, limit: limit, goal: goal)
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
  nonisolated(nonsending) func record() async -> Record {
    if children.expectedCount > 0 { context.expectChildren(children.expectedCount) }
    await withTaskCancellationHandler {
      await Scheduler(self, in: context).runChildren()
    } onCancel: {
      hasBeenCancelled.store(true, ordering: .relaxed)
      cancelSubstitute()
    }
    return Record(
      losses: losses, cleanups: cleanups, sourceError: sourceError.withLock(\.self),
      isCutShort: isCutShort.load(ordering: .relaxed) || !children.hasGivenAll)
  }

  // MARK: As a source of work

  var run: ScheduledRun { self }
  var mayHaveWork: Bool { !isStopped && !children.isExhausted }
  var hasWorkForAnother: Bool { isLaneFree && places.isFree && mayHaveWork }
  var hasWorkForHelper: Bool { hasWorkForAnother }

  static var hasWaitingWorkers: Bool { true }

  nonisolated(nonsending) func waitForWork() async -> Readiness {
    if isStopped || Task.isCancelled { return .over }
    let hasWaited = await children.waitUntilIdle()
    guard !children.isExhausted, places.isFree else { return .over }
    return hasWaited ? .readyAfterWait : .ready
  }
}
