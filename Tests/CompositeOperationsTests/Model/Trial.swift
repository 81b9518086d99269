import CompositeOperations
import CompositeOperationsTestKit

/// A tree, a way to run it, and when it is cancelled from outside: all drawn from one seed.
struct Trial: Sendable {
  enum Workers: String, Sendable, CaseIterable {
    /// A seeded executor.
    case one
    /// Swift's own thread pool.
    case all
  }

  enum Cancellation: Sendable {
    case never, beforeTheStart
    /// After so many jobs of the seeded executor, or else so many entries of the log.
    case after(Int)
  }

  enum Surroundings: Sendable {
    case plain
    /// With random numbers of its own, but without observers.
    case furnished
    case observed
    /// Observed by the modifier of the same name.
    case observedFromInside
  }

  let seed: UInt64
  let workers: Workers
  var tree: Tree
  var orderSeed: UInt64
  var cancellation: Cancellation
  let surroundings: Surroundings
  /// Whether it is started with a handle, or run as part of a task.
  let hasHandle: Bool
  /// How long a leaf computes at most while it waits for another one.
  var patience = Duration.seconds(20)

  /// - Parameter size: About how many nodes the tree has at most.
  init(seed: UInt64, workers: Workers, size: Int = 14) {
    var chance = Chance(seed: seed)
    self.seed = seed
    self.workers = workers
    orderSeed = chance.seed()
    surroundings = chance.pick([
      (60, .plain), (15, .furnished), (18, .observed), (7, .observedFromInside),
    ])
    hasHandle = chance.percent(60)
    var generator = TreeGenerator(seed: chance.seed())
    // Who gets into one another's way are many.
    let share = chance.number(1...size)
    tree = generator.tree(of: generator.isAboutPermits ? share * 3 : share)
    if workers == .all, processorCount > 1, chance.percent(10) { tree = tree.withRival(&chance) }
    let moments = tree.size * (workers == .one ? 3 : 4)
    cancellation = chance.pick([
      (45, .never), (5, .beforeTheStart), (50, .after(chance.number(1...moments))),
    ])
  }

  /// What is there to see when everything is over.
  private struct End: Sendable {
    let outcome: ShownOutcome
    let late: ShownOutcome?
  }

  /// What became of it.
  func verdict() async -> Verdict {
    let recorder = Recorder(
      cancellationPoint: workers == .all ? cancellation.point : nil, patience: patience)
    let observer = RecordingObserver()
    let builder = Builder(recorder: recorder)
    let operation = builder.operation(tree)
    let observed: AnyShown =
      surroundings == .observedFromInside ? operation.observed(by: observer) : operation
    // Two computing leaves could occupy all threads, and wait for each other's rivals.
    let end =
      tree.hasRival
      ? await Computation.alone { await run(observed, recorder, observer) }
      : await run(observed, recorder, observer)
    let story = recorder.story
    let entries = story.entries
    var judge = Judge(of: tree, in: workers == .one ? .total : .partial)
    judge.read(story)
    guard let end else {
      return Verdict(self, entries, nil, ["O1: it is stuck"] + judge.findings)
    }
    judge.finish(end.outcome, late: end.late, hasHandle: hasHandle)
    judge.expect(builder.areAllPermitsBack, "E1: permits did not come back")
    judge.expect(recorder.callsUnderLock == 0, "C3: code of the tree ran under a lock")
    judge.mayBeginLate(atMost: processorCount, entries)
    var laws = EventLaws(order: judge.order)
    if surroundings == .observed || surroundings == .observedFromInside {
      laws.read(observer.events)
      laws.readProgress(of: observer.events)
      laws.compare(with: judge)
    }
    return Verdict(self, entries, end.outcome, judge.findings + laws.findings)
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
      recorder.forgetCancellation()
    }
    return ends.entries.first
  }

  /// - Returns: A task that ends when the run has ended, and how to cancel the run.
  private func start(
    _ operation: some ComposableOperation<ShownValue>, on executor: SeededExecutor?,
    _ clock: TurnClock, _ observer: RecordingObserver, _ ends: Log<End>
  ) -> (Task<Void, Never>, @Sendable () -> Void) {
    var environment = OperationEnvironment()
    if tree.takesTime { environment.clock = clock }
    switch surroundings {
    case .plain, .observedFromInside: break
    case .furnished: environment.randomness = .seeded(seed)
    case .observed: environment.observers = [observer]
    }
    if hasHandle {
      environment.executor = executor
      let run = operation.start(in: environment)
      let task = Task(executorPreference: executor) {
        ends.add(
          End(outcome: ShownOutcome(await run.outcome), late: await run.late.map(ShownOutcome.init))
        )
      }
      return (task, { run.cancel() })
    }
    let task = Task(executorPreference: executor) { [surroundings, environment, tree] in
      let outcome =
        switch surroundings {
        case .plain where !tree.takesTime, .observedFromInside where !tree.takesTime:
          await operation.run()
        case .plain, .observedFromInside, .furnished, .observed:
          await operation.run(in: environment)
        }
      ends.add(End(outcome: ShownOutcome(outcome), late: nil))
    }
    return (task, { task.cancel() })
  }
}

extension Trial {
  /// How to run it again.
  var again: String { "COMPOSITE_MODEL_SEED=\(workers)-\(seed) swift test --filter ModelTests" }
}

extension Trial.Cancellation {
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

/// What became of a trial, and the whole story for whoever has to find out why.
struct Verdict: Sendable, CustomStringConvertible {
  let trial: Trial
  let entries: [Entry]
  let outcome: ShownOutcome?
  let findings: [String]

  init(_ trial: Trial, _ entries: [Entry], _ outcome: ShownOutcome?, _ findings: [String]) {
    self.trial = trial
    self.entries = entries
    self.outcome = outcome
    self.findings = findings
  }

  var description: String {
    let log = entries.enumerated().map { "\($0) \($1)" }.joined(separator: "\n")
    return """
      \(findings.joined(separator: "\n"))
      seed \(trial.seed), \(trial.workers), \(trial.cancellation), \(trial.surroundings), \
      \(trial.hasHandle ? "with a handle" : "in a task")
      \(trial.tree)
      \(log)
      outcome: \(outcome.map { "\($0)" } ?? "none")
      """
  }
}
