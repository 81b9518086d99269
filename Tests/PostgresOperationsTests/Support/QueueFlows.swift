internal import CompositeOperations
internal import DurableOperations

/// What the operations of a test have done.
final class Deeds: Sendable {
  @TaskLocal static var current: Deeds?

  private let names = Lock<[String]>([])

  var all: [String] { names.withLock { $0 } }

  func add(_ name: String) { names.withLock { $0.append(name) } }

  static func recorded<Value>(_ body: (Deeds) async throws -> Value) async throws -> Value {
    let deeds = Deeds()
    return try await $current.withValue(deeds) { try await body(deeds) }
  }
}

/// An operation with an effect.
struct Deed: ComposableOperation {
  let operationName: String

  init(_ name: String) { operationName = name }

  func perform(in context: OperationContext) async throws -> String {
    Deeds.current?.add(operationName)
    return operationName
  }
}

/// An operation that takes a while, and notes how it ended.
struct Lasting: ComposableOperation {
  let duration: Duration

  func perform(in context: OperationContext) async throws -> String {
    Deeds.current?.add("begun")
    do { try await Task.sleep(for: duration) } catch {
      Deeds.current?.add("cancelled")
      throw error
    }
    return "ended"
  }
}

/// A flow of one lasting step.
struct LastingFlow: DurableSequence {
  let milliseconds: Int

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil ? Lasting(duration: .milliseconds(milliseconds)) : nil
  }

  func output(of steps: FinishedSteps) -> String { steps.last(of: Lasting.self) ?? "nothing" }
}

/// A flow with each kind of write.
struct Everything: DurableSequence {
  private var log: [String] = []

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    if let previous { log.append(previous.name) }
    switch log.count {
    case 0: return Deed("plain")
    case 1:
      return ParallelOperation(["a", "b"].map { Deed($0).journaled(as: $0) }).named("keys")
    case 2: return DurableSleep(for: .milliseconds(20))
    case 3: return AwaitedEvent("go", as: Int.self)
    case 4: return ChildFlow(Leaf(name: "leaf"))
    case 5:
      return ParallelOperation(
        (0..<2).map { ChildFlow(Leaf(name: "leaf \($0)")).journaled(as: $0) }
      )
      .named("leaves")
    case 6: return Deed("last")
    default: return nil
    }
  }

  func output(of steps: FinishedSteps) -> [String] { log }

  static let deeds = ["a", "b", "last", "leaf", "leaf 0", "leaf 1", "plain"]
  static let log = [
    "plain", "keys", "DurableSleep", "AwaitedEvent(go)", "Leaf", "leaves", "last",
  ]
}

struct Leaf: DurableSequence {
  let name: String

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil ? Deed(name) : nil
  }

  func output(of steps: FinishedSteps) -> String { steps.last(of: Deed.self) ?? "nothing" }
}

/// A flow with many child flows in one step.
struct Crowd: DurableSequence {
  let count: Int
  private var sum = 0

  init(count: Int) { self.count = count }

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    if let previous {
      sum = previous.result(as: [String].self)?.count ?? -1
      return nil
    }
    return ParallelOperation(
      (0..<count).map { ChildFlow(Leaf(name: "leaf"), named: "leaf-\($0)") })
  }

  func output(of steps: FinishedSteps) -> Int { sum }
}
