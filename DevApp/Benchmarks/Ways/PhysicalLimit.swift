import Foundation
import Synchronization

/// The limit of the machine: an operation is a call through a pointer and a store.
///
/// The threads spin until the start, so that only the work is timed.
final class PhysicalLimit: Sendable {
  struct Item: Sendable {
    let function: @convention(c) @Sendable (UInt64, Int) -> UInt64
    let seed: UInt64
    let steps: Int
  }

  private let items: [Item]
  private let slots: Slots
  private let ready = Atomic(0)
  private let hasBegun = Atomic(false)
  private let next = Atomic(0)
  private let finished = Atomic(0)

  private init(_ items: [Item]) {
    self.items = items
    slots = Slots(count: items.count)
  }

  static func name(threads: Int) -> String {
    "call and store, \(threads) thread\(threads == 1 ? "" : "s")"
  }

  /// Creates ways for one thread, and for as many threads as there are cores.
  static func ways(count: Int, steps: Int = 0) -> [Way] {
    let items = Prepared {
      (0..<count).map { index in
        Item(
          function: { seed, steps in work(seed, steps: steps) }, seed: UInt64(index), steps: steps)
      }
    }
    return (Cores.count == 1 ? [1] : [1, Cores.count]).map { threads in
      .blocking(
        name(threads: threads), .limit,
        sampling: {
          PhysicalLimit(items.value).sample(threads: threads)
        })
    }
  }

  private func sample(threads: Int) -> Sample {
    for _ in 0..<threads - 1 {
      let thread = Thread {
        self.ready.wrappingAdd(1, ordering: .acquiringAndReleasing)
        while !self.hasBegun.load(ordering: .acquiring) {}
        self.perform()
        self.finished.wrappingAdd(1, ordering: .acquiringAndReleasing)
      }
      thread.start()
    }
    while ready.load(ordering: .acquiring) < threads - 1 {}
    let start = ContinuousClock.now
    hasBegun.store(true, ordering: .releasing)
    perform()
    while finished.load(ordering: .acquiring) < threads - 1 {}
    return Sample(amount: Stopwatch.nanoseconds(since: start), checksum: slots.sum)
  }

  private func perform() {
    // Local copies, so that the loop does not read from the memory that the threads share.
    let (items, slots) = (items, slots)
    // Large enough that taking a portion costs nothing, and small enough that all threads end
    // together.
    let portion = items.first?.steps == 0 ? 256 : 16
    items.withUnsafeBufferPointer { items in
      while true {
        let first = next.wrappingAdd(portion, ordering: .relaxed).oldValue
        if first >= items.count { return }
        for index in first..<min(first + portion, items.count) {
          let item = items[index]
          slots[index] = item.function(item.seed, item.steps)
        }
      }
    }
  }
}
