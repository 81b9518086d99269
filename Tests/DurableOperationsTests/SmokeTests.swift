import CompositeOperations
import DurableOperations
import Foundation
import Testing

struct Add: ComposableOperation {
  let left: Int
  let right: Int
  func perform(in context: OperationContext) async throws -> Int { left + right }
}

struct Counting: DurableSequence {
  let goal: Int
  var sum = 0

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    if let result = previous?.result(of: Add.self) { sum = result }
    return sum >= goal ? nil : Add(left: sum, right: 1)
  }
  func output(of steps: FinishedSteps) -> Int { sum }
}

struct Waiting: DurableSequence {
  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    guard let previous else { return DurableSleep(for: .milliseconds(50)).named("rest") }
    if previous.index == 0 { return AwaitedEvent("go", as: String.self) }
    if previous.index == 1 {
      return ParallelOperation((0..<3).map { Add(left: $0, right: 1).journaled(as: $0) })
    }
    return nil
  }
  func output(of steps: FinishedSteps) -> [Int] {
    steps.last(of: ParallelOperation<[Int]>.self) ?? []
  }
}

@Suite struct SmokeTests {
  @Test(arguments: [false, true])
  func counts(inFile: Bool) async throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("c-\(UUID()).sqlite").path
    let store = inFile ? RunStore.sqlite(path) : .memory()
    let outcome = await DurableOperation(Counting(goal: 5), named: "five", in: store).run()
    #expect(try outcome.get() == 5)
    let again = await DurableOperation(Counting(goal: 5), named: "five", in: store).run()
    #expect(try again.get() == 5)
    let details = try #require(try await store.run("five"))
    #expect(details.steps.count == 5)
    #expect(await DurableOperation(Counting(goal: 6), named: "five", in: store).run().error is RunExistsError)
    #expect(try await store.check() == [])
  }

  @Test(arguments: [false, true])
  func waits(inFile: Bool) async throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("w-\(UUID()).sqlite").path
    var options = RunStoreOptions()
    options.parkingThreshold = .milliseconds(10)
    let store = inFile ? RunStore.sqlite(path, options: options) : .memory(options: options)
    let worker = DurableWorker(in: store, running: [Waiting.self]).start()
    let run = try await store.start(Waiting(), named: "w")
    try await store.send("x", as: "go", to: "w")
    let outcome = try await run.outcome
    #expect(try outcome.get() == [1, 2, 3])
    worker.cancel()
    #expect(await worker.outcome.isCancelled)
  }
}
