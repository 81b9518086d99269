internal import ThreadSupport

/// Decides when a loop whose operations may never suspend yields its thread to other tasks.
///
/// Reading the clock costs about as much as an empty step, so it is read rarely while the steps are
/// short. A loop of a few steps never reads the clock.
@usableFromInline struct YieldSchedule: Sendable {
  /// How long a loop keeps its thread, in nanoseconds.
  private static let sliceLength: Int64 = 5_000_000
  /// The longest time between two readings for which the stride grows, in nanoseconds.
  private static let shortTime: Int64 = 50_000
  private static let longestStride: Int32 = 256
  /// The stride under a preferred executor, where nothing may depend on a clock.
  private static let reproducibleStride: Int32 = 64

  @usableFromInline var stepsLeft: Int32 = 4
  private var stride: Int32 = 4
  /// Whether the task has a preferred executor; nil until the first stride has ended. It cannot
  /// change during the loop.
  private var isReproducible: Bool?
  /// When the loop got its thread, and when the clock was read last. Valid after the first stride.
  private var sliceStart: Int64 = 0
  private var lastReading: Int64 = 0

  @usableFromInline init() {}

  /// Counts a step and yields the thread if its time slice is over.
  ///
  /// - Returns: Whether it has yielded; the run may have been cancelled meanwhile.
  @discardableResult
  @inlinable @inline(__always) mutating nonisolated(nonsending) func stepEnded() async -> Bool {
    stepsLeft &-= 1
    guard stepsLeft == 0, isTimeToYield() else { return false }
    await Task.yield()
    yielded()
    return true
  }

  @usableFromInline mutating func isTimeToYield() -> Bool {
    defer { stepsLeft = stride }
    guard let isReproducible else {
      let isReproducible = Task.hasPreferredExecutor
      self.isReproducible = isReproducible
      if isReproducible { stride = Self.reproducibleStride }
      yielded()
      return false
    }
    if isReproducible { return true }
    let now = MonotonicTime.now
    stride = now - lastReading < Self.shortTime ? min(stride * 4, Self.longestStride) : 1
    lastReading = now
    return now - sliceStart > Self.sliceLength
  }

  /// Begins a new time slice, after a yield.
  @usableFromInline mutating func yielded() {
    if isReproducible == true { return }
    sliceStart = MonotonicTime.now
    lastReading = sliceStart
  }
}
