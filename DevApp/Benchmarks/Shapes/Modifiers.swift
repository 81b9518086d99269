import CompositeOperations

extension Shape {
  /// One operation at a time with a modifier, beside equivalent code written by hand.
  static func modifiers(count: Int) -> Shape {
    let work = Work(seed: 7)
    return Shape(
      id: "modifiers", title: "one operation with a modifier, \(count.grouped) times",
      operations: count, hasEqualWays: false,
      ways: [
        running("no modifier", work, count),
        running("retrying", work.retrying(attempts: 3), count),
        running("recovering", work.recovering { _ in 0 }, count),
        running("fallingBack", work.fallingBack(to: work), count),
        running("ignoringErrors", work.ignoringErrors(with: 0), count),
        running("mapError", work.mapError { $0 }, count),
        running("repeating until it is done", work.repeating { _ in lastAnswer.isYes }, count),
        running("repeating 3 times", work.repeating(times: 3), count),
        running("delayed by nothing", work.delayed(by: .zero), count),
        running("timingOut", work.timingOut(after: .seconds(100)), count),
        running(
          "timingOut, body waits", Yielding(seed: 7).timingOut(after: .seconds(100)), count),
        running(
          "timingOut, abandoning", work.timingOut(after: .seconds(100), .abandoning), count),
        running("exclusive", work.exclusive(in: Permits(1)), count),
        running("limited", work.limited(by: Permits(4)), count),
        running("requiring", work.requiring(Condition("is on") { lastAnswer.isYes }), count),
        running(
          "requiring, condition that may wait",
          work.requiring(Condition("a condition") { () async -> Bool in lastAnswer.isYes }), count),
        running("throttled", work.throttled(to: .max, per: .seconds(1)), count),
        running("limited by a key", work.limited(by: KeyedPermits<Int>(4)[7]), count),
        running(
          "guarded",
          work.guarded(by: CircuitBreaker(opensAfterFailures: 5, halfOpensAfter: .seconds(30))),
          count),
        running("hedged", work.hedged(after: .seconds(100)), count),
        running("finally", work.finally { _ in }, count),
      ] + modifiersByHand(of: work, count))
  }

  /// The equivalent code, as it is usually written.
  private static func modifiersByHand(of work: Work, _ count: Int) -> [Way] {
    [
      byHand("retry loop", count) { context in
        try await retried(attempts: 3) { try await work.perform(in: context) }
      },
      byHand("do and catch", count) { context in
        do { return try await work.perform(in: context) } catch is CancellationError {
          throw CancellationError()
        } catch { return 0 }
      },
      byHand("loop until it is done", count) { context in
        while true {
          let value = try await work.perform(in: context)
          if lastAnswer.isYes { return value }
        }
      },
      byHand("loop 3 times", count) { context in
        _ = try await work.perform(in: context)
        _ = try await work.perform(in: context)
        return try await work.perform(in: context)
      },
      byHand("timeout by a task group", count) { context in
        try await timed(.seconds(100)) { try await work.perform(in: context) }
      },
      byHand("timeout by a task group, body waits", count) { context in
        try await timed(.seconds(100)) { try await Yielding(seed: 7).perform(in: context) }
      },
      byHand("timeout by unstructured tasks", count) { context in
        try await abandoned(.seconds(100)) { try await work.perform(in: context) }
      },
      byHand("actor as a lock", count) { [gatekeeper = Gatekeeper(1)] context in
        try await gatekeeper.admit { try await work.perform(in: context) }
      },
      byHand("actor as a semaphore", count) { [gatekeeper = Gatekeeper(4)] context in
        try await gatekeeper.admit { try await work.perform(in: context) }
      },
      byHand("guard", count) { context in
        guard lastAnswer.isYes else { throw CancellationError() }
        return try await work.perform(in: context)
      },
      byHand("guard by an unstructured task", count) { context in
        // So that a cancellation does not wait for the answer.
        let (answers, continuation) = AsyncStream.makeStream(of: Bool.self)
        let asking = Task { continuation.yield(lastAnswer.isYes) }
        defer { asking.cancel() }
        guard await answers.first(where: { _ in true }) == true else { throw CancellationError() }
        return try await work.perform(in: context)
      },
      byHand("actor with a token bucket", count) {
        [bucket = TokenBucket(.max, per: .seconds(1))] context in
        try await bucket.take()
        return try await work.perform(in: context)
      },
      byHand("cleanup by a task", count) { context in
        do {
          let value = try await work.perform(in: context)
          await Task {}.value
          return value
        } catch {
          await Task {}.value
          throw error
        }
      },
    ]
  }

  /// The subject of a condition.
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

  /// A semaphore, as it is usually written.
  private actor Gatekeeper {
    private var places: Int
    private var waiters: [CheckedContinuation<Void, Never>] = []

    init(_ places: Int) { self.places = places }

    nonisolated func admit<Value: Sendable>(
      _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
      await enter()
      do {
        let value = try await body()
        await leave()
        return value
      } catch {
        await leave()
        throw error
      }
    }

    private func enter() async {
      if places == 0 {
        await withCheckedContinuation { waiters.append($0) }
      } else {
        places -= 1
      }
    }

    private func leave() {
      if waiters.isEmpty { places += 1 } else { waiters.removeFirst().resume() }
    }
  }

  /// A rate limit, as it is usually written.
  actor TokenBucket {
    private let size: Double
    private let refill: Double
    private var tokens: Double
    private var last = ContinuousClock.now

    init(_ count: Int, per period: Duration) {
      size = Double(count)
      refill = Double(count) / (period / .seconds(1))
      tokens = Double(count)
    }

    func take() async throws {
      while true {
        let now = ContinuousClock.now
        tokens = min(size, tokens + (now - last) / .seconds(1) * refill)
        last = now
        if tokens >= 1 { break }
        try await Task.sleep(for: .seconds((1 - tokens) / refill))
      }
      tokens -= 1
    }
  }

  /// A retry, as it is usually written.
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

  /// A timeout, as it is usually written.
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

  /// A timeout that does not wait for the body, as it is usually written.
  private static func abandoned<Value: Sendable>(
    _ limit: Duration, _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let (ends, continuation) = AsyncThrowingStream.makeStream(of: Value.self)
    let performing = Task {
      do { continuation.yield(try await body()) } catch { continuation.finish(throwing: error) }
    }
    let timing = Task {
      try await Task.sleep(for: limit)
      continuation.finish(throwing: TookTooLong())
    }
    defer {
      performing.cancel()
      timing.cancel()
    }
    for try await value in ends { return value }
    throw CancellationError()
  }

  static func running(
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
