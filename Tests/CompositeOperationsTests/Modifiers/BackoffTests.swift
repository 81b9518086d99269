import CompositeOperations
import Testing

@Suite struct BackoffTests {
  private func delays(_ backoff: Backoff, _ count: Int, seed: UInt64 = 1) -> [Duration] {
    var delays = Backoff.Delays(backoff)
    var randomness = OperationRandomness.seeded(seed)
    return (0..<count).map { _ in delays.delay(using: &randomness) }
  }

  private func milliseconds(_ backoff: Backoff, _ count: Int) -> [Int] {
    delays(backoff, count).map { Int($0 / .milliseconds(1)) }
  }

  @Test func `R2: delays follow their backoff`() {
    let first = Duration.milliseconds(100)
    #expect(delays(.none, 3) == [.zero, .zero, .zero])
    #expect(delays(.constant(first), 3) == [first, first, first])
    #expect(milliseconds(.linear(from: first), 4) == [100, 200, 300, 400])
    #expect(milliseconds(.linear(from: first, by: .milliseconds(5)), 3) == [100, 105, 110])
    #expect(delays(.exponential(from: first), 4) == [1, 2, 4, 8].map { first * $0 })
    #expect(delays(.exponential(from: first, by: 1), 3) == [first, first, first])
    #expect(milliseconds(.exponential(from: first, by: 1.5), 3) == [100, 150, 225])
    #expect(delays(.fibonacci(from: first), 7) == [1, 1, 2, 3, 5, 8, 13].map { first * $0 })
    #expect(delays(.exponential(from: .zero), 3) == [.zero, .zero, .zero])
  }

  @Test func `R2: no delay exceeds the cap, and none overflows`() {
    let first = Duration.seconds(1)
    let capped = Backoff.exponential(from: first).capped(at: .seconds(5))
    #expect(delays(capped, 5) == [1, 2, 4, 5, 5].map { .seconds($0) })
    #expect(delays(capped.capped(at: .seconds(9)), 5).max() == .seconds(5))
    #expect(delays(.constant(first).capped(at: .zero), 2) == [.zero, .zero])
    let years = Duration.seconds(1_000_000_000)
    for backoff in [
      Backoff.exponential(from: first, by: 1e300), .exponential(from: first, by: 1e10),
      .exponential(from: .nanoseconds(1), by: .greatestFiniteMagnitude),
      .exponential(from: first), .fibonacci(from: first),
      .linear(from: first, by: .seconds(Int64.max)), .constant(.seconds(Int64.max)),
      .exponential(from: first).jittered(.decorrelated),
    ] {
      let delays = delays(backoff, 2_000)
      #expect(delays.allSatisfy { $0 >= .zero && $0 <= years })
    }
    #expect(delays(.exponential(from: first), 200).last == years)
  }

  @Test func `R2: jitter stays within its bounds, covers their range, and is reproducible`() {
    let delay = Duration.seconds(10)
    let full = delays(.constant(delay).jittered(), 4_000)
    #expect(full.allSatisfy { $0 >= .zero && $0 <= delay })
    #expect(full.min()! < .milliseconds(100) && full.max()! > .milliseconds(9_900))
    let equal = delays(.constant(delay).jittered(.equal), 4_000)
    #expect(equal.allSatisfy { $0 >= delay / 2 && $0 <= delay })
    #expect(equal.min()! < .milliseconds(5_100) && equal.max()! > .milliseconds(9_900))
    let decorrelated = Backoff.constant(delay).capped(at: .seconds(60)).jittered(.decorrelated)
    for (previous, next) in zip(
      delays(decorrelated, 4_000), delays(decorrelated, 4_000).dropFirst())
    {
      #expect(next >= delay && next <= min(previous * 3, .seconds(60)))
    }
    #expect(delays(decorrelated, 50) == delays(decorrelated, 50))
    #expect(delays(decorrelated, 50) != delays(decorrelated, 50, seed: 2))
  }
}
