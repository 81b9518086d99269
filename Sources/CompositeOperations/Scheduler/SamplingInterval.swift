internal import SystemSupport

/// A time slice: how long a worker keeps its thread before it yields to other tasks.
struct TimeSlice: Sendable {
  /// The length of a slice, in nanoseconds.
  private static let length: Int64 = 5_000_000

  /// `Int64.max` if nothing may depend on a clock. An optional would make every puller larger.
  private let began: Int64

  init(isReproducible: Bool) { began = isReproducible ? .max : MonotonicTime.now }

  /// The start in nanoseconds of ``MonotonicTime``; nil if nothing may depend on a clock.
  var start: Int64? { began == .max ? nil : began }

  var isOver: Bool {
    guard let start else { return false }
    return MonotonicTime.now - start > Self.length
  }
}

/// The interval at which a puller measures the duration of its children: short while they take
/// long, long while they are short.
///
/// A measurement reads the clock, which takes longer than an empty child.
struct SamplingInterval: Sendable {
  /// The time between two measurements below which the stride grows, in nanoseconds.
  private static let unhurried: Int64 = 50_000
  static let longestStride: Int32 = 256
  /// The longest stride for children of many kinds, where short ones say little about the next.
  static let mixedStride: Int32 = 32
  private static let reproducibleStride: Int32 = 64

  /// `Int64.max` if nothing may depend on a clock.
  private var lastLook: Int64
  private var stride: Int32
  private var untilLook: Int32

  /// - Parameter start: The start of the puller; nil if nothing may depend on a clock.
  init(from start: Int64?) {
    lastLook = start ?? .max
    stride = start == nil ? Self.reproducibleStride : 1
    untilLook = stride
  }

  init(isReproducible: Bool) { self.init(from: isReproducible ? nil : MonotonicTime.now) }

  /// Counts a child, and returns whether to call ``look(longest:)`` after it.
  @inline(__always) mutating func isTimeToLook() -> Bool {
    untilLook -= 1
    return untilLook == 0
  }

  /// Returns the mean nanoseconds per child since the last call; nil if no clock may be read.
  ///
  /// - Parameter longest: The most children until the next call.
  mutating func look(longest: Int32 = SamplingInterval.longestStride) -> Int64? {
    defer { untilLook = stride }
    if lastLook == .max { return nil }
    let now = MonotonicTime.now
    let passed = now - lastLook
    let each = passed / Int64(stride)
    stride = passed < Self.unhurried ? min(stride * 4, longest) : 1
    lastLook = now
    return each
  }
}
