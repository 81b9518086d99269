import Dispatch
import Foundation
import Synchronization

/// The machine's cores, woken before each run: one that sleeps takes milliseconds to join in.
enum Cores {
  static let count = max(1, ProcessInfo.processInfo.activeProcessorCount)

  /// Wakes the threads of Swift's pool.
  static func wake() async {
    let arrived = Arrivals()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<count { group.addTask { arrived.meet() } }
    }
  }

  /// Wakes the threads of Dispatch.
  static func wakeQueues() {
    let arrived = Arrivals()
    DispatchQueue.concurrentPerform(iterations: count) { _ in arrived.meet() }
  }

  private final class Arrivals: Sendable {
    private let count = Atomic(0)

    /// Waits, busily, until every core is here or does not come, and a little longer.
    func meet() {
      count.wrappingAdd(1, ordering: .sequentiallyConsistent)
      let limit = ContinuousClock.now + .milliseconds(30)
      while count.load(ordering: .relaxed) < Cores.count, ContinuousClock.now < limit {}
      let end = ContinuousClock.now + .microseconds(200)
      while ContinuousClock.now < end {}
    }
  }
}
