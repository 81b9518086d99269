import CompositeOperations
import CompositeOperationsTestKit
import Testing

/// Random programs of runs that begin, also through the contexts of others, end and are cancelled
/// while time passes, compared with a model of the rules.
@Suite(.timeLimit(.minutes(10))) struct CircuitBreakerModelTests {
  @Test(arguments: 0..<10)
  func `Q5: random programs do what the rules say`(block: Int) async {
    let count = Scale.cases(300)
    for seed in block * count..<(block + 1) * count {
      let program = CircuitProgram(seed: UInt64(seed))
      if let finding = program.finding() { Issue.record("seed \(seed): \(finding)") }
    }
  }
}

/// The rules, with all that has happened in the present period.
private struct CircuitModel {
  let failures: Int
  let runs: Int
  let probes: Int

  var state = CircuitBreaker.State.closed
  private(set) var period = 0
  private var beginning = Duration.zero
  /// Whether the runs that have ended in this closed period have failed.
  private var ends: [Bool] = []
  private var begun = 0
  private var succeeded = 0
  private var cancelled = 0

  init(failures: Int, runs: Int, probes: Int) {
    self.failures = failures
    self.runs = runs
    self.probes = probes
  }

  private mutating func enter(_ state: CircuitBreaker.State, at time: Duration) {
    self = CircuitModel(failures: failures, runs: runs, probes: probes, period: period + 1)
    self.state = state
    beginning = time
  }

  private init(failures: Int, runs: Int, probes: Int, period: Int) {
    self.init(failures: failures, runs: runs, probes: probes)
    self.period = period
  }

  /// - Returns: The error of a run that is refused.
  mutating func began(at time: Duration, pause: Duration) -> CircuitOpenError? {
    let left = beginning + pause - time
    let isFull = state == .halfOpen && begun - cancelled == probes
    if state == .open || isFull {
      if left > .zero {
        return CircuitOpenError(
          name: "model", state: isFull ? .halfOpen : .open, timeUntilProbe: left)
      }
      enter(.halfOpen, at: time)
    }
    begun += 1
    return nil
  }

  mutating func ended(in end: CircuitProgram.End, of period: Int, at time: Duration) {
    guard period == self.period else { return }
    switch (state, end) {
    case (.closed, .cancelled): break
    case (.closed, _):
      ends.append(end == .failure)
      if ends.suffix(runs).count(where: \.self) >= failures { enter(.open, at: time) }
    case (_, .failure): enter(.open, at: time)
    case (_, .cancelled): cancelled += 1
    case (_, .result), (_, .other):
      succeeded += 1
      if succeeded == probes { enter(.closed, at: time) }
    }
  }
}

private final class CircuitProgram {
  enum End: CaseIterable { case result, failure, other, cancelled }

  private struct Run {
    let gate: Gate
    let end: Log<End>
    let task: Task<Void, Never>
    let context: OperationContext
    let period: Int
    /// Whether it is part of a probe, and so does not count.
    let isPart: Bool
    /// Its number, if it is a probe.
    let probe: Int?
    /// The numbers of the probes that it is, or that it is part of.
    let probes: Set<Int>
  }

  private let pause = Duration.seconds(10)
  private let clock = ManualClock()
  private let executor: SeededExecutor
  private let breaker: CircuitBreaker
  private let states = Log<CircuitBreaker.State>()
  private var model: CircuitModel
  private var chance: Chance
  private var runs: [Run] = []
  private var endedRuns: [Run] = []
  /// The periods of the probes that run, by their numbers.
  private var probes: [Int: Int] = [:]
  private var expectedStates = [CircuitBreaker.State.closed]
  private var steps: [String] = []

  init(seed: UInt64) {
    chance = Chance(seed: seed)
    executor = SeededExecutor(seed: seed)
    let failures = chance.number(1...4)
    let last = chance.percent(50) ? nil : failures + chance.number(0...4)
    let probes = chance.number(1...3)
    breaker = CircuitBreaker(
      opensAfterFailures: failures, ofLast: last, halfOpensAfter: pause, probes: probes,
      name: "model"
    ) { error in error as? TestError == TestError("failure") }
    model = CircuitModel(failures: failures, runs: last ?? failures, probes: probes)
    steps = ["\(failures) failures of the last \(last ?? failures), \(probes) probes"]
  }

  /// Performs the program.
  ///
  /// - Returns: The steps until the first difference to the model; nil if there is none.
  func finding() -> String? {
    let reader = Task(executorPreference: executor) { [breaker, states] in
      for await state in breaker.states { states.add(state) }
    }
    executor.drain()
    var difference: String?
    for _ in 0..<60 where difference == nil {
      difference = chance.pick([
        (weight: 4, { self.begin() }), (weight: 2, beginWithin), (weight: 5, end),
        (weight: 1, advance),
      ])()
      executor.drain()
      if expectedStates.last != model.state { expectedStates.append(model.state) }
      if breaker.state != model.state {
        difference = difference ?? "the state is \(breaker.state), not \(model.state)"
      }
      if states.entries != expectedStates {
        difference = difference ?? "read \(states.entries), not \(expectedStates)"
      }
    }
    while !runs.isEmpty { _ = end() }
    reader.cancel()
    executor.drain()
    return difference.map { (steps + [$0]).joined(separator: "\n") }
  }

  /// Begins a run through the context of another one, which may have ended.
  private func beginWithin() -> String? {
    let others = runs + endedRuns.suffix(3)
    return others.isEmpty ? nil : begin(within: others[chance.number(0...others.count - 1)])
  }

  private func begin(within parent: Run? = nil) -> String? {
    let (gate, end, ended) = (Gate(), Log<End>(), Log<Outcome<Int>>())
    let contexts = Log<OperationContext>()
    let operation = SimpleOperation<Int>.withContext { context in
      contexts.add(context)
      try await gate.pass()
      switch end.entries.first {
      case .failure: throw TestError("failure")
      case .other: throw TestError("other")
      case .cancelled: throw CancellationError()
      case .result, nil: return 1
      }
    }.guarded(by: breaker).onEnd { ended.add($0) }
    let environment = OperationEnvironment(clock: clock, executor: executor)
    let task = Task(executorPreference: executor) {
      if let parent {
        _ = await parent.context.outcome(of: operation)
      } else {
        _ = await operation.run(in: environment)
      }
    }
    executor.drain()
    let below = (parent?.probes ?? []).filter { probes[$0] != nil }
    let isPart = model.state == .halfOpen && below.contains { probes[$0] == model.period }
    let expected = isPart ? nil : model.began(at: clock.now.offset, pause: pause)
    steps.append(
      "a run begins at \(clock.now.offset) below the probes \(below.sorted()), expecting "
        + "\(expected as Any)")
    guard let expected else {
      guard let context = contexts.entries.first, ended.entries.isEmpty else {
        return "it ended in \(ended.entries)"
      }
      let isProbe = model.state == .halfOpen && !isPart
      let number = isProbe ? steps.count : nil
      if let number { probes[number] = model.period }
      runs.append(
        Run(
          gate: gate, end: end, task: task, context: context, period: model.period, isPart: isPart,
          probe: number, probes: below.union(number.map { [$0] } ?? [])))
      return nil
    }
    let error = ended.entries.first?.error as? CircuitOpenError
    return error == expected ? nil : "it ended in \(ended.entries)"
  }

  private func end() -> String? {
    if runs.isEmpty { return nil }
    let run = runs.remove(at: chance.number(0...runs.count - 1))
    let end = End.allCases[chance.number(0...3)]
    steps.append("a run of period \(run.period) ends: \(end)")
    if end == .cancelled, chance.percent(50) {
      run.task.cancel()
    } else {
      run.end.add(end)
      run.gate.open()
    }
    executor.drain()
    if !run.isPart { model.ended(in: end, of: run.period, at: clock.now.offset) }
    if let probe = run.probe { probes[probe] = nil }
    endedRuns.append(run)
    return nil
  }

  private func advance() -> String? {
    clock.advance(by: .seconds(chance.number(1...10)))
    steps.append("it is \(clock.now.offset)")
    return nil
  }
}
