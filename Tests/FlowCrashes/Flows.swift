import CompositeOperations
import DurableOperations
import DurableRecords
import RecordOperations

/// A flow with every kind of step.
struct EveryKindOfStep: DurableSequence {
  /// How each step ended: the state, which changes with every step.
  private var log: [String] = []

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    if let previous { log.append(previous.summary) }
    switch log.count {
    case 0: return Effect("plain")
    case 1:
      return ParallelOperation(["a", "b", "c"].map { Effect($0).journaled(as: $0) })
        .named("parallel")
    case 2:
      return OperationGraph { graph in
        let root = graph.add(Effect("root").journaled(as: "root"))
        let left = graph.add(needing: root) { Effect("\($0)-left").journaled(as: "left") }
        let right = graph.add(needing: root) { Effect("\($0)-right").journaled(as: "right") }
        return graph.add(needing: left, right) { left, right in
          Effect("\(left)+\(right)").journaled(as: "end")
        }
      }.named("graph")
    case 3: return FailsFirst().durablyRetrying(attempts: 100)
    case 4: return DurableSleep(for: .milliseconds(10))
    case 5: return AwaitedEvent("approval", as: String.self)
    case 6: return ChildFlow(Child(letters: ["x", "y"]))
    case 7: return Fails()
    case 8: return Effect("recovery after \(previous?.error.map { "\($0)" } ?? "nothing")")
    case 9: return LargeValue()
    case 10: return ChildFlow(LimitedHistory(), named: "limited")
    case 11: return CancelsItself()
    case 12: return ChildFlow(CancelledChild(), named: "cancelled")
    case 13: return ChildFlow(CommittedSteps(), named: "committed")
    case 14: return Effect("end")
    default: return nil
    }
  }

  func output(of steps: FinishedSteps) -> [String] { log }
}

/// A flow that runs as a child.
struct Child: DurableSequence {
  var letters: [String]

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    if letters.isEmpty { return nil }
    return Effect(letters.removeFirst())
  }

  func output(of steps: FinishedSteps) -> String {
    steps.compactMap { $0.result(as: String.self) }.joined()
  }
}

/// A flow whose journal keeps two steps.
struct LimitedHistory: DurableSequence {
  private var sum = 0

  var history: StepHistory { .last(2) }

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    if let number = previous?.result(of: Effect.self).flatMap(Int.init) { sum += number }
    let index = previous.map { $0.index + 1 } ?? 0
    return index < 6 ? Effect("\(index)") : nil
  }

  func output(of steps: FinishedSteps) -> String {
    "\(sum) \(steps.map(\.name).joined(separator: ","))"
  }
}

/// A flow that counts in records, in the file of its journal.
struct CommittedSteps: DurableSequence {
  /// The result of each step.
  private var counts: [String] = []

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    if let previous { counts.append(previous.summary) }
    switch counts.count {
    case 0, 1, 3: return count("steps")
    case 2:
      return ParallelOperation(["a", "b"].map { count($0).journaled(as: $0) }).named("parts")
    default: return nil
    }
  }

  func output(of steps: FinishedSteps) -> [String] { counts }

  private func count(_ name: String) -> CommittedStep<Int> {
    CommittedStep(in: FlowCrashes.records) { records in
      let id = RecordID("Counter", name)
      var counter = try records.record(id) ?? DatabaseRecord(id)
      let count = (try counter.value("count", as: Int?.self) ?? 0) + 1
      counter["count"] = .integer(Int64(count))
      try records.save([counter])
      return count
    }
  }
}

/// A flow that is cancelled in its store.
struct CancelledChild: DurableSequence {
  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil ? Effect("before") : CancelsRun(run: "cancelled")
  }

  func output(of steps: FinishedSteps) -> String { "not cancelled" }
}

/// A short flow, of which many run at once.
struct SmallFlow: DurableSequence {
  let number: Int
  private var sum = 0

  init(number: Int) { self.number = number }

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    sum += previous.map { $0.index + 1 } ?? 0
    switch previous.map({ $0.index + 1 }) ?? 0 {
    case 0: return Effect("first")
    case 1:
      return ParallelOperation((0..<2).map { Effect("\($0)").journaled(as: $0) }).named("keys")
    case 2: return DurableSleep(for: .milliseconds(number % 3 * 20))
    case 3: return Effect("last")
    default: return nil
    }
  }

  func output(of steps: FinishedSteps) -> Int { sum }
}

/// A flow whose only step takes a while.
struct SlowFlow: DurableSequence {
  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil ? SlowEffect() : nil
  }

  func output(of steps: FinishedSteps) -> Int { steps.count }
}

/// A flow of many steps that take a while.
struct LongFlow: DurableSequence {
  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous?.index == 99 ? nil : SlowEffect()
  }
}

/// A flow that does not end.
struct EndlessFlow: DurableSequence {
  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil ? EndlessStep(disturbs: CommandLine.arguments.last == "disturb") : nil
  }
}

/// A flow that kills its process.
struct PoisonFlow: DurableSequence {
  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil ? KillsProcess() : nil
  }
}

extension FinishedStep {
  /// The step with its outcome, without a large value.
  fileprivate var summary: String {
    let end =
      switch outcome {
      case .result(let value as JournaledValue):
        value.text.utf8.count > 1_000 ? "\(value.text.utf8.count) bytes" : value.text
      case .result(let value): "\(value)"
      case .error(let error): "error \(error)"
      case .cancelled: "cancelled"
      }
    return "\(index) \(name): \(end)"
  }
}
