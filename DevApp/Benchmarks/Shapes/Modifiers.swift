import CompositeOperations

extension Shape {
  /// One operation at a time with a modifier, beside the same thing written by hand.
  static func modifiers(count: Int) -> Shape {
    let work = Work(seed: 7)
    return Shape(
      id: "modifiers", title: "one operation with a modifier, \(count.grouped) times",
      operations: count,
      ways: [
        running("no modifier", work, count),
        running("retrying", work.retrying(attempts: 3), count),
        running("recovering", work.recovering { _ in 0 }, count),
        running("timingOut", work.timingOut(after: .seconds(100)), count),
        running(
          "timingOut, body waits", Yielding(seed: 7).timingOut(after: .seconds(100)), count),
        running("exclusive", work.exclusive(in: Permits(1)), count),
        running("limited", work.limited(by: Permits(4)), count),
        running("requiring", work.requiring { lastAnswer.isYes }, count),
        running(
          "requiring, condition that may wait",
          work.requiring("a condition") { () async -> Bool in lastAnswer.isYes }, count),
        running("throttled", work.throttled(to: .max, per: .seconds(1)), count),
        running("finally", work.finally { _ in }, count),
        byHand("retry loop", count) { context in
          try await retried(attempts: 3) { try await work.perform(in: context) }
        },
        byHand("actor as a lock", count) { [gatekeeper = Gatekeeper()] context in
          await gatekeeper.enter()
          do {
            let value = try await work.perform(in: context)
            await gatekeeper.leave()
            return value
          } catch {
            await gatekeeper.leave()
            throw error
          }
        },
        byHand("timeout by a task group", count) { context in
          try await timed(.seconds(100)) { try await work.perform(in: context) }
        },
        byHand("timeout by a task group, body waits", count) { context in
          try await timed(.seconds(100)) { try await Yielding(seed: 7).perform(in: context) }
        },
      ])
  }

  /// Something that a condition asks.
  private struct Answer: Sendable {
    var isYes: Bool { moment != 0 }
    let moment = UInt64.random(in: 1...9)
  }

  private static let lastAnswer = Answer()

  private struct Yielding: ComposableOperation {
    let seed: UInt64

    func perform(in context: OperationContext) async throws -> UInt64 {
      await Task.yield()
      return work(seed)
    }
  }

  /// A lock as people write it.
  private actor Gatekeeper {
    private var isOccupied = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    func enter() async {
      if isOccupied {
        await withCheckedContinuation { waiters.append($0) }
      } else {
        isOccupied = true
      }
    }

    func leave() {
      if waiters.isEmpty { isOccupied = false } else { waiters.removeFirst().resume() }
    }
  }

  /// A retry as people write it.
  private static func retried<Value>(
    attempts: Int, _ body: () async throws -> Value
  ) async throws -> Value {
    for _ in 1..<attempts {
      do { return try await body() } catch is CancellationError {
        throw CancellationError()
      } catch { continue }
    }
    return try await body()
  }

  private struct TookTooLong: Error {}

  /// A timeout as people write it.
  private static func timed<Value: Sendable>(
    _ limit: Duration, _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
      group.addTask { try await body() }
      group.addTask {
        try await Task.sleep(for: limit)
        throw TookTooLong()
      }
      defer { group.cancelAll() }
      guard let value = try await group.next() else { throw CancellationError() }
      return value
    }
  }

  private static func running(
    _ name: String, _ operation: some ComposableOperation<UInt64>, _ count: Int
  ) -> Way {
    Way(name, .ours) {
      let context = OperationContext()
      var sum: UInt64 = 0
      for _ in 0..<count { sum &+= try await context.run(operation) }
      return sum
    }
  }

  private static func byHand(
    _ name: String, _ count: Int,
    _ body: @escaping @Sendable (OperationContext) async throws -> UInt64
  ) -> Way {
    Way(name, .swift) {
      let context = OperationContext()
      var sum: UInt64 = 0
      for _ in 0..<count { sum &+= try await body(context) }
      return sum
    }
  }
}
