import CompositeOperations
import Foundation
import Synchronization
import Testing

/// Many operations from many threads, each counted once.
@Suite struct PoolScaleTests {
  /// A million in optimized builds without sanitizers.
  private static let count: Int = {
    #if DEBUG || SANITIZER
      40_000
    #else
      1_000_000
    #endif
  }()
  private static let threads = 8

  private final class Counts: Sendable {
    let ran = Atomic(0)
    let refused = Atomic(0)
    let mostWaiting = Atomic(0)
  }

  private struct Counter: OperationPoolDelegate {
    let counts: Counts

    func didEnd(_ member: PoolMember, in outcome: Outcome<any Sendable>) {
      if case .error(is PoolRefusalError) = outcome {
        counts.refused.wrappingAdd(1, ordering: .relaxed)
      }
    }
  }

  @Test func `W9: a million operations from 8 tasks that wait for room run once each`() async {
    let counts = Counts()
    let pool = OperationPool(width: .limited(to: 4), capacity: 1_000)
    await withDiscardingTaskGroup { group in
      for _ in 0..<Self.threads {
        group.addTask {
          for number in 0..<(Self.count / Self.threads) {
            await pool.submit(
              SimpleOperation { _ = counts.ran.wrappingAdd(1, ordering: .relaxed) })
            if number.isMultiple(of: 64) {
              counts.mostWaiting.max(pool.waitingCount, ordering: .relaxed)
            }
          }
        }
      }
    }
    await pool.drain()
    #expect(counts.ran.load(ordering: .relaxed) == Self.count)
    #expect(counts.mostWaiting.load(ordering: .relaxed) <= 1_000)
    #expect(pool.runningCount == 0 && pool.waitingCount == 0)
  }

  @Test
  func `W9: a million operations from 8 threads that cannot wait run once each or are refused`()
    async
  {
    let counts = Counts()
    let pool = OperationPool(
      width: .limited(to: 4), capacity: 1_000, overflow: .refuse, delegate: Counter(counts: counts))
    let (ended, end) = AsyncStream<Void>.makeStream()
    for _ in 0..<Self.threads {
      Thread.detachNewThread {
        for number in 0..<(Self.count / Self.threads) {
          pool.submitNow(SimpleOperation { _ = counts.ran.wrappingAdd(1, ordering: .relaxed) })
          if number.isMultiple(of: 64) {
            counts.mostWaiting.max(pool.waitingCount, ordering: .relaxed)
          }
        }
        end.yield()
      }
    }
    var left = Self.threads
    for await _ in ended {
      left -= 1
      if left == 0 { break }
    }
    await pool.drain()
    let (ran, refused) = (
      counts.ran.load(ordering: .relaxed), counts.refused.load(ordering: .relaxed)
    )
    #expect(ran + refused == Self.count, "\(ran) ran and \(refused) were refused")
    #expect(ran >= 1_000)
    #expect(counts.mostWaiting.load(ordering: .relaxed) <= 1_000)
  }
}
