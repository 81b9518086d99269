import CompositeOperations
import DurableOperations
import DurableTestSupport
import Synchronization

struct ScriptOutput: Codable, Hashable, Sendable {
  let sum: Int
  /// The names of the steps that the history keeps.
  let names: [String]

  init(sum: Int, names: some Sequence<String>) { (self.sum, self.names) = (sum, Array(names)) }
}

/// A flow that follows a script.
struct ScriptFlow: DurableSequence {
  let script: Script
  private var next = 0
  private var sum = 0

  init(_ script: Script) { self.script = script }

  var history: StepHistory {
    switch script.limit {
    case nil: .all
    case 0: .none
    case let limit?: .last(limit)
    }
  }

  mutating func nextOperation(
    after previous: FinishedStep?
  ) throws -> (any ComposableOperation)? {
    if let previous {
      if case .result = previous.outcome {
        sum += value(of: previous)
      } else {
        guard next < script.instructions.count, script.instructions[next] == .recover else {
          return nil
        }
      }
    }
    while next < script.instructions.count {
      next += 1
      switch script.instructions[next - 1] {
      case .recover: break
      case .change: sum = sum * 3 + 1
      case .throwError: throw ThrownError(number: sum)
      case .plain: return ScriptStep("plain")
      case .fail: return ScriptStep("fail", fails: true)
      case .cancel: return CancelledStep()
      case .parallel(let children, let fails):
        let steps = (0..<children).map {
          ScriptStep("child", fails: fails && $0 == children - 1).journaled(as: $0)
        }
        return ParallelOperation(steps, onFailure: .runAll).named("parallel")
      case .retry(let failures):
        return ScriptStep("retry", failures: failures).durablyRetrying(attempts: 50)
      case .retryInVain:
        return ScriptStep("vain", fails: true).durablyRetrying(attempts: 50) { _ in false }
      case .sleep: return DurableSleep(for: .zero)
      case .event: return AwaitedEvent("event", as: Int.self)
      case .child(let script): return ChildFlow(ScriptFlow(script))
      }
    }
    return nil
  }

  private func value(of step: FinishedStep) -> Int {
    step.result(as: Int.self) ?? step.result(as: [Int].self)?.reduce(0, +)
      ?? step.result(of: ChildFlow<ScriptFlow>.self)?.sum ?? 0
  }

  func output(of steps: FinishedSteps) -> ScriptOutput {
    ScriptOutput(sum: sum, names: steps.map(\.name))
  }
}

/// The error of a sequence.
struct ThrownError: Error, Codable, Hashable { let number: Int }

/// The error of a step.
struct ScriptError: Error, Codable, Hashable { let number: Int }

/// An operation that records its effect.
struct ScriptStep: ComposableOperation {
  let operationName: String
  private let failures: Int

  /// - Parameter failures: How many times it fails, over all processes.
  init(_ name: String, failures: Int = 0) { (operationName, self.failures) = (name, failures) }

  init(_ name: String, fails: Bool) { self.init(name, failures: fails ? .max : 0) }

  func perform(in context: OperationContext) async throws -> Int {
    let before = EffectRecorder.current?.record(context) ?? 0
    if before < failures { throw ScriptError(number: before) }
    return 1
  }
}

struct CancelledStep: ComposableOperation {
  var operationName: String { "cancel" }

  func perform(in context: OperationContext) async throws -> Int {
    _ = EffectRecorder.current?.record(context)
    throw CancellationError()
  }
}

/// The effects of one run, over all processes that a test simulates.
final class EffectRecorder: Sendable {
  @TaskLocal static var current: EffectRecorder?

  private let lines = Lock<[EffectLine]>([])
  private let launch = Atomic(0)

  var effects: [EffectLine] { lines.withLock { $0 } }

  var launchCount: Int { launch.load(ordering: .relaxed) }

  func beginLaunch() { launch.add(1, ordering: .relaxed) }

  /// - Returns: How often the same body has run before.
  func record(_ context: OperationContext) -> Int {
    let line = EffectLine(
      launch: launchCount, key: context.idempotencyKey ?? "none",
      fence: context.fencingToken ?? -1)
    return lines.withLock { lines in
      defer { lines.append(line) }
      return lines.count { $0.key == line.key }
    }
  }
}
