import Dispatch
import Foundation
import Synchronization

/// The cores of the machine. They are woken before each run, because a sleeping core takes
/// milliseconds to start.
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

    /// Spins until every core has arrived, or 30 ms have passed, and then for 200 µs more.
    func meet() {
      count.wrappingAdd(1, ordering: .sequentiallyConsistent)
      let limit = ContinuousClock.now + .milliseconds(30)
      while count.load(ordering: .relaxed) < Cores.count, ContinuousClock.now < limit {}
      let end = ContinuousClock.now + .microseconds(200)
      while ContinuousClock.now < end {}
    }
  }
}
