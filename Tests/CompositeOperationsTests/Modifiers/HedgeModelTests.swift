import CompositeOperations
import CompositeOperationsTestKit
import Testing

/// A random run of a hedge. Times are in milliseconds. No two events have the same time: each
/// attempt adds a power of two to multiples of 100.
private struct HedgeProgram {
  enum End {
    case result, error, finalError
    case advice(Int)
    case cancellation
  }

  struct Attempt {
    let duration: Int
    let end: End
    /// Whether it ends in the same way when it is cancelled, at once.
    let isDeaf: Bool
  }

  /// What a run can be observed to do.
  struct Observation: Equatable {
    var outcome = ""
    var errors: [Int] = []
    var began: [Int] = []
    var discarded: Set<Int> = []
    var time = 0
  }

  let delay: Int
  let attempts: [Attempt]
  /// When the run is cancelled.
  let cancellation: Int?

  init(seed: UInt64) {
    var chance = Chance(seed: seed)
    delay = 100 * chance.number(0...3)
    attempts = (0..<chance.number(1...5)).map { index in
      let end: End = chance.pick([
        (25, .result), (40, .error), (5, .finalError), (20, .advice(100 * chance.number(0...4))),
        (10, .cancellation),
      ])
      return Attempt(
        duration: 100 * chance.number(0...6) + 1 << index, end: end, isDeaf: chance.percent(40))
    }
    cancellation = chance.maybe(25) { 100 * $0.number(0...8) + 99 }
  }

  // MARK: The rules

  func expected() -> Observation {
    var seen = Observation()
    var (due, blocked) = (0, 0)
    var running: [Int: Int] = [:]
    var failed: Set<Int> = []
    while seen.outcome.isEmpty {
      let next = running.min { $0.value < $1.value }
      let isLeft = seen.began.count < attempts.count
      let times = [next?.value, isLeft ? due : nil, cancellation].compactMap(\.self)
      guard let time = times.min() else { preconditionFailure("the run does not end") }
      seen.time = time
      if time == cancellation {
        seen.outcome = "cancelled"
      } else if isLeft, time == due {
        running[seen.began.count] = time + attempts[seen.began.count].duration
        seen.began.append(time)
        due = max(time + delay, blocked)
      } else if let attempt = next?.key {
        running[attempt] = nil
        switch attempts[attempt].end {
        case .result: seen.outcome = "result \(attempt)"
        case .cancellation: seen.outcome = "cancelled"
        case .finalError:
          failed.insert(attempt)
          seen.outcome = "error"
        case .error: failed.insert(attempt)
        case .advice(let delay):
          failed.insert(attempt)
          blocked = max(blocked, time + delay)
        }
        due = max(time, blocked)
        if failed.count == attempts.count { seen.outcome = "error" }
      }
    }
    // The attempts that still run are cancelled.
    for attempt in running.keys where attempts[attempt].isDeaf {
      switch attempts[attempt].end {
      case .result: seen.discarded.insert(attempt)
      case .error, .finalError, .advice: failed.insert(attempt)
      case .cancellation: break
      }
    }
    if !seen.outcome.hasPrefix("result") { seen.errors = failed.sorted() }
    return seen
  }

  // MARK: The run

  private struct Failed: Error { let attempt: Int }

  func observed(seed: UInt64) async throws -> Observation {
    let clock = ManualClock()
    let (began, discarded) = (Log<Int>(), Log<Int>())
    let crowd = Crowd()
    let body = SimpleOperation { [attempts] () async throws -> Int in
      let index = began.addNumbered(clock.now.offset.milliseconds) - 1
      crowd.enter()
      defer { crowd.leave() }
      let attempt = attempts[index]
      do { try await clock.sleep(for: .milliseconds(attempt.duration)) } catch {
        if !attempt.isDeaf { throw error }
      }
      switch attempt.end {
      case .result: return index
      case .error: throw Failed(attempt: index)
      case .finalError: throw TestError("final \(index)")
      case .advice(let delay): throw Advice(attempt: index, delay: delay)
      case .cancellation: throw CancellationError()
      }
    }.discarding { discarded.add($0) }
    let hedged = body.hedged(after: .milliseconds(delay), attempts: attempts.count) { error in
      !(error is TestError)
    }
    let executor = SeededExecutor(seed: seed)
    return try await executor.run(advancing: clock) { [cancellation, delay] in
      let run = hedged.start(
        in: OperationEnvironment(clock: clock, executor: executor))
      async let canceller: Void = {
        guard let cancellation else { return }
        try? await clock.sleep(for: .milliseconds(cancellation))
        run.cancel()
      }()
      let outcome = await run.outcome
      let time = clock.now.offset.milliseconds
      #expect(crowd.now == 0)
      let late = await run.lateOutcome
      await canceller
      var seen = Observation(
        began: began.entries, discarded: Set(discarded.entries), time: time)
      #expect(seen.discarded.count == discarded.count)
      let error = outcome.error ?? late?.error
      switch outcome {
      case .result(let value): seen.outcome = "result \(value)"
      case .error: seen.outcome = "error"
      case .cancelled: seen.outcome = "cancelled"
      }
      let all = (error as? RetryError)?.errors ?? error.map { [$0] } ?? []
      seen.errors = all.map { error in
        (error as? Failed)?.attempt ?? (error as? Advice)?.attempt
          ?? Int("\(error)".dropFirst("final ".count)) ?? -1
      }
      // Attempts that begin at the same time reach their bodies in any order.
      if delay == 0 { seen.errors.sort() }
      return seen
    }
  }

  private struct Advice: RetryAdvising {
    let attempt: Int
    let delay: Int
    var retryDelay: Duration? { .milliseconds(delay) }
  }
}

extension Duration {
  fileprivate var milliseconds: Int { Int(self / .milliseconds(1)) }
}

/// R8, R9: random hedges do what the rules say.
@Suite(.timeLimit(.minutes(10))) struct HedgeModelTests {
  @Test func `R8 and R9: random hedges begin, end and discard as the rules say`() async throws {
    var seen: Set<String> = []
    for seed in 0..<UInt64(Scale.cases(20_000)) {
      let program = HedgeProgram(seed: seed)
      let expected = program.expected()
      let observed = try await program.observed(seed: seed)
      try #require(observed == expected, "seed \(seed): \(program)")
      seen.insert("\(expected.outcome.prefix(6)) \(expected.began.count)")
    }
    #expect(seen.count >= 14, "\(seen.sorted())")
  }
}
