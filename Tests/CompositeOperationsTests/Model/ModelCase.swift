import CompositeOperations
import CompositeOperationsTestKit

/// A tree, how it is run, and when it is cancelled from outside, all generated from one seed.
struct ModelCase: Sendable {
  enum Workers: String, Sendable, CaseIterable {
    /// A seeded executor.
    case one
    /// Swift's own thread pool.
    case all
  }

  enum Cancellation: Sendable {
    case never, beforeTheStart
    /// After this number of jobs of the seeded executor or, on all workers, of entries in the log.
    case after(Int)
  }

  enum Setup: Sendable {
    case plain
    /// With seeded random numbers, and without observers.
    case seeded
    case observed
    /// Observed by the modifier `observed(by:)`.
    case observedByModifier
  }

  let seed: UInt64
  let workers: Workers
  var tree: Tree
  var orderSeed: UInt64
  var cancellation: Cancellation
  let setup: Setup
  /// Whether the operation is started with a handle, instead of run in a task.
  let hasHandle: Bool
  /// The maximum time that a leaf computes while it waits for another leaf.
  var computationTimeout = Duration.seconds(20)

  /// - Parameter size: The approximate maximum number of nodes.
  init(seed: UInt64, workers: Workers, size: Int = 14) {
    var chance = Chance(seed: seed)
    self.seed = seed
    self.workers = workers
    orderSeed = chance.seed()
    setup = chance.pick([
      (60, .plain), (15, .seeded), (18, .observed), (7, .observedByModifier),
    ])
    hasHandle = chance.percent(60)
    var generator = TreeGenerator(seed: chance.seed())
    // Contention for permits needs more nodes.
    let share = chance.number(1...size)
    tree = generator.tree(of: generator.isAboutPermits ? share * 3 : share)
    if workers == .all, processorCount > 1, chance.percent(10) { tree = tree.withRival(&chance) }
    let points = tree.size * (workers == .one ? 3 : 4)
    cancellation = chance.pick([
      (45, .never), (5, .beforeTheStart), (50, .after(chance.number(1...points))),
    ])
  }

  /// The outcomes that the caller receives.
  private struct End: Sendable {
    let outcome: ShownOutcome
    let late: ShownOutcome?
  }

  /// Runs the case, and checks the log and the events against the rules.
  func report() async -> ModelReport {
    let recorder = Recorder(
      cancellationPoint: workers == .all ? cancellation.point : nil,
      computationTimeout: computationTimeout)
    let observer = RecordingObserver()
    let builder = Builder(recorder: recorder)
    let operation = builder.operation(tree)
    let observed: AnyShown =
      setup == .observedByModifier ? operation.observed(by: observer) : operation
    // Two computing leaves could occupy all threads, and each wait for a leaf that needs a thread.
    let end =
      tree.hasRival
      ? await Computation.alone { await run(observed, recorder, observer) }
      : await run(observed, recorder, observer)
    let recording = recorder.recording
    let entries = recording.entries
    var oracle = Oracle(of: tree, in: workers == .one ? .total : .partial)
    oracle.read(recording)
    guard let end else {
      return ModelReport(self, entries, nil, ["O1: the run did not end"] + oracle.findings)
    }
    oracle.finish(end.outcome, late: end.late, hasHandle: hasHandle)
    oracle.expect(builder.areAllPermitsBack, "E1: permits were not released")
    oracle.expect(recorder.callsUnderLock == 0, "C3: code of the tree ran under a lock")
    oracle.checkLateBeginnings(atMost: processorCount, entries)
    var laws = EventLaws(
      order: oracle.order, isChildOfUnobserved: setup == .observedByModifier)
    if setup == .observed || setup == .observedByModifier {
      laws.read(observer.events)
      laws.readProgress(of: observer.events)
      laws.compare(with: oracle)
    }
    return ModelReport(self, entries, end.outcome, oracle.findings + laws.findings)
  }

  // MARK: Running

  private func run(
    _ operation: some ComposableOperation<ShownValue>, _ recorder: Recorder,
    _ observer: RecordingObserver
  ) async -> End? {
    let ends = Log<End>()
    switch workers {
    case .one:
      let executor = SeededExecutor(seed: orderSeed)
      let (_, cancel) = start(operation, on: executor, recorder.clock, observer, ends)
      if cancellation.isBeforeTheStart { recorder.cancel(cancel) }
      executor.drain { job in
        recorder.jobEnded(job)
        if job == cancellation.point { recorder.cancel(cancel) }
      }
    case .all:
      let (task, cancel) = start(operation, on: nil, recorder.clock, observer, ends)
      if cancellation.isBeforeTheStart { recorder.cancel(cancel) }
      recorder.prepareCancellation(cancel)
      await task.value
      await recorder.waitForAbandonedBodies()
      recorder.forgetCancellation()
    }
    return ends.entries.first
  }

  /// - Returns: A task that ends when the run has ended, and a closure that cancels the run.
  private func start(
    _ operation: some ComposableOperation<ShownValue>, on executor: SeededExecutor?,
    _ clock: TickClock, _ observer: RecordingObserver, _ ends: Log<End>
  ) -> (Task<Void, Never>, @Sendable () -> Void) {
    var environment = OperationEnvironment()
    if tree.takesTime { environment.clock = clock }
    switch setup {
    case .plain, .observedByModifier: break
    case .seeded: environment.randomness = .seeded(seed)
    case .observed: environment.observers = [observer]
    }
    if hasHandle {
      environment.executor = executor
      let run = operation.start(in: environment)
      let task = Task(executorPreference: executor) {
        let late = await run.lateOutcome.map(ShownOutcome.init)
        ends.add(End(outcome: ShownOutcome(await run.outcome), late: late))
      }
      return (task, { run.cancel() })
    }
    let task = Task(executorPreference: executor) { [setup, environment, tree] in
      let outcome =
        switch setup {
        case .plain where !tree.takesTime, .observedByModifier where !tree.takesTime:
          await operation.run()
        case .plain, .observedByModifier, .seeded, .observed:
          await operation.run(in: environment)
        }
      ends.add(End(outcome: ShownOutcome(outcome), late: nil))
    }
    return (task, { task.cancel() })
  }
}

extension ModelCase {
  /// The command that runs the case again.
  var reproductionCommand: String {
    "COMPOSITE_MODEL_SEED=\(workers)-\(seed) make test FILTER=ModelTests"
  }
}

extension ModelCase.Cancellation {
  fileprivate var point: Int? {
    switch self {
    case .never, .beforeTheStart: nil
    case .after(let point): point
    }
  }

  fileprivate var isBeforeTheStart: Bool {
    if case .beforeTheStart = self { true } else { false }
  }
}

/// The findings about a case, with the tree and the log.
struct ModelReport: Sendable, CustomStringConvertible {
  let modelCase: ModelCase
  let entries: [Entry]
  let outcome: ShownOutcome?
  let findings: [String]

  init(_ modelCase: ModelCase, _ entries: [Entry], _ outcome: ShownOutcome?, _ findings: [String]) {
    self.modelCase = modelCase
    self.entries = entries
    self.outcome = outcome
    self.findings = findings
  }

  var description: String {
    let log = entries.enumerated().map { "\($0) \($1)" }.joined(separator: "\n")
    return """
      \(findings.joined(separator: "\n"))
      seed \(modelCase.seed), \(modelCase.workers), \(modelCase.cancellation), \(modelCase.setup), \
      \(modelCase.hasHandle ? "with a handle" : "in a task")
      \(modelCase.tree)
      \(log)
      outcome: \(outcome.map { "\($0)" } ?? "none")
      """
  }
}
