import CompositeOperations
import DurableOperations
import Foundation
import PostgresOperations

/// Workers on a PostgreSQL queue, which tests kill and stop.
///
/// usage: ClusterCrashes start ADDRESS FOLDER LEASE COUNT CHILDREN
///        ClusterCrashes work ADDRESS FOLDER LEASE LAUNCH WIDTH [MILLISECONDS]
///
/// - `start` starts runs of ``Item``, and one of ``FanOut`` with child flows.
/// - `work` runs them until it is killed. Each effect takes some milliseconds, by default 5.
///
/// The flows append lines to the file `effects` in the folder: `begun LAUNCH FENCE KEY` when a body
/// begins, and `done KEY` when the sequence knows that a step has finished.
@main struct ClusterCrashes {
  static let arguments = CommandLine.arguments
  static let folder = arguments[3]
  static let launch = arguments[1] == "start" ? "0" : arguments[5]
  static let pause = arguments.count > 7 ? Int(arguments[7]) ?? 5 : 5

  static func main() async throws {
    let lease = Duration.milliseconds(Int(arguments[4]) ?? 2_000)
    let options = RunStoreOptions(valueLimit: 1 << 20, parkingThreshold: .milliseconds(5))
    let store = RunStore.postgres(arguments[2], lease: lease, options: options)
    switch arguments[1] {
    case "start":
      for number in 0..<(Int(arguments[5]) ?? 0) {
        try await store.start(Item(name: "item-\(number)", number: number), named: "item-\(number)")
      }
      let children = Int(arguments[6]) ?? 0
      if children > 0 { try await store.start(FanOut(count: children), named: "fan-out") }
    default:
      let flows: [any DurableSequence.Type] = [Item.self, FanOut.self]
      let width = OperationWidth.limited(to: Int(arguments[6]) ?? 4)
      _ = await DurableWorker(in: store, running: flows, width: width).run()
    }
    await store.close()
  }
}

/// A short flow with each kind of write.
struct Item: DurableSequence {
  let name: String
  let number: Int
  private var sum = 0

  init(name: String, number: Int) {
    self.name = name
    self.number = number
  }

  var history: StepHistory { number % 2 == 0 ? .all : .last(2) }

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    if let previous { Effects.append("done \(name)/\(previous.index).") }
    sum += previous.map { $0.index + 1 } ?? 0
    switch previous.map({ $0.index + 1 }) ?? 0 {
    case 0: return Effect("first")
    case 1:
      return ParallelOperation((0..<2).map { Effect("part").journaled(as: $0) }).named("keys")
    case 2: return DurableSleep(for: .milliseconds(number % 3 * 20))
    case 3: return Effect("last")
    default: return nil
    }
  }

  func output(of steps: FinishedSteps) -> Int { sum }
}

/// A flow that starts many child flows, on any machine.
struct FanOut: DurableSequence {
  let count: Int
  private var sum = 0

  init(count: Int) { self.count = count }

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    if let previous {
      sum = previous.result(as: [Int].self)?.reduce(0, +) ?? -1
      return nil
    }
    return ParallelOperation(
      (0..<count).map { ChildFlow(Item(name: "child-\($0)", number: $0), named: "child-\($0)") })
  }

  func output(of steps: FinishedSteps) -> Int { sum }
}

/// An operation whose effect is a line in a file.
struct Effect: ComposableOperation {
  let operationName: String

  init(_ name: String) { operationName = name }

  func perform(in context: OperationContext) async throws -> String {
    let key = context.idempotencyKey ?? "none"
    Effects.append("begun \(ClusterCrashes.launch) \(context.fencingToken ?? -1) \(key)")
    try await Task.sleep(for: .milliseconds(ClusterCrashes.pause))
    return operationName
  }
}

enum Effects {
  /// Appends a line with one write, so that a kill cannot cut it.
  static func append(_ line: String) {
    let file = unsafe open(
      "\(ClusterCrashes.folder)/effects", O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(file) }
    let bytes = Array((line + "\n").utf8)
    let count = unsafe bytes.withUnsafeBytes { unsafe write(file, $0.baseAddress, $0.count) }
    precondition(count == bytes.count, "the effect was not written")
  }
}
