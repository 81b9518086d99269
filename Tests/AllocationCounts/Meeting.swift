internal import CAllocationCounter
internal import Synchronization

/// A barrier at which operations wait for the last one. The wait itself allocates nothing.
final class Meeting: Sendable {
  private let seconds: Int64
  private let missing: Atomic<Int>
  private let end: AsyncStream<Void>.Continuation
  private let ended: Task<Void, Never>

  /// - Parameters:
  ///   - count: The number of operations.
  ///   - seconds: The time in seconds until all operations have arrived.
  init(of count: Int, seconds: Int64) {
    self.seconds = seconds
    missing = Atomic(count)
    let (ends, end) = AsyncStream<Void>.makeStream()
    self.end = end
    ended = Task { for await _ in ends {} }
  }

  func attend() async {
    if missing.wrappingSubtract(1, ordering: .relaxed).newValue == 0 {
      allocation_counter_advance_clock(seconds)
      end.finish()
    }
    await ended.value
  }
}
