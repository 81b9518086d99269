import CompositeOperations
import DurableOperations
import PostgresOperations
import Testing

@Suite(.enabled(if: PrivateServer.whatIsMissing == nil), .timeLimit(.minutes(10)))
struct RunReadsTests {
  private struct Nothing: DurableSequence {
    var number = 0

    mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? { nil }
  }

  private func store() async throws -> RunStore {
    let server = PrivateServer.shared
    let address = try await server.freshDatabase()
    try await server.query("SELECT absurd.create_queue('default')", at: address)
    return .postgres(address)
  }

  @Test func `concurrent reads find their runs, and nothing for a missing name`() async throws {
    let store = try await store()
    for number in 0..<20 {
      try await store.start(Nothing(number: number), named: "run-\(number)")
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      // More than one statement reads.
      for number in 0..<1_200 {
        group.addTask {
          let number = number % 25
          let run = try await store.backend.run("run-\(number)")
          #expect(run?.initial == (number < 20 ? #"{"number":\#(number)}"# : nil))
        }
      }
      try await group.waitForAll()
    }
    await store.close()
  }

  @Test func `concurrent reads fail if there is no server`() async throws {
    let store = RunStore.postgres("postgresql://postgres@/none?host=/nonexistent")
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<700 {
        group.addTask {
          await #expect(throws: RunStoreError.self) {
            try await store.backend.run("run-\(number)")
          }
        }
      }
    }
    await store.close()
  }

  @Test func `a new run is as the store reads it`() async throws {
    let store = try await store()
    let (new, isNew) = try await store.backend.start(Nothing(), named: "run", parent: "parent")
    var read = try #require(try await store.backend.run("run"))
    #expect(isNew)
    #expect(abs(read.began - new.began) <= 1_000)
    #expect(abs((read.wake ?? 0) - (new.wake ?? .max)) <= 1_000)
    (read.began, read.updated, read.wake) = (new.began, new.updated, new.wake)
    #expect("\(read)" == "\(new)")
    await store.close()
  }
}
