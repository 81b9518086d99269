internal import SystemSupport

/// A time slice: how long a worker keeps its thread before it yields to other tasks.
struct TimeSlice: Sendable {
  /// The length of a slice, in nanoseconds.
  private static let length: Int64 = 5_000_000

  /// `Int64.max` if nothing may depend on a clock. An optional would make every puller larger.
  private let began: Int64

  init(isReproducible: Bool) { began = isReproducible ? .max : MonotonicTime.now }

  /// A slice that is never over.
  static var endless: TimeSlice { TimeSlice(isReproducible: true) }

  /// The start in nanoseconds of ``MonotonicTime``; nil if nothing may depend on a clock.
  var start: Int64? { began == .max ? nil : began }

  var isOver: Bool { hasLasted(Self.length) }

  /// Whether it began more than some nanoseconds ago; false if nothing may depend on a clock.
  func hasLasted(_ nanoseconds: Int64) -> Bool {
    guard let start else { return false }
    return MonotonicTime.now - start > nanoseconds
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

  /// The duration of a child, in nanoseconds, that needs no second measurement.
  private static let certain: Int64 = 50_000

  /// `Int64.max` if nothing may depend on a clock.
  private var lastLook: Int64
  private var stride: Int32
  private var untilLook: Int32
  /// The nanoseconds per child of the last measurement; -1 if there was none.
  private var lastEach: Int32 = -1

  /// - Parameter start: The start of the puller; nil if nothing may depend on a clock.
  init(from start: Int64?) {
    lastLook = start ?? .max
    stride = start == nil ? Self.reproducibleStride : 1
    untilLook = stride
  }

  init(isReproducible: Bool) { self.init(from: isReproducible ? nil : MonotonicTime.now) }

  /// Begins the current measurement again.
  ///
  /// - Parameter start: Now; nil if nothing may depend on a clock.
  mutating func restart(from start: Int64?) {
    lastLook = start ?? .max
    untilLook = stride
  }

  /// Counts a child, and returns whether to call ``look(longest:)`` after it.
  @inline(__always) mutating func isTimeToLook() -> Bool {
    untilLook -= 1
    return untilLook == 0
  }

  /// Measures the duration of the children since the last call.
  ///
  /// - Parameter longest: The most children until the next call.
  /// - Returns: The nanoseconds per child: the lesser of this measurement and the one before, unless
  ///   this one is long beyond doubt, because a light child also takes long when its thread is
  ///   interrupted. Nil if a first measurement must be confirmed, or if no clock may be read.
  mutating func look(longest: Int32 = SamplingInterval.longestStride) -> Int64? {
    defer { untilLook = stride }
    if lastLook == .max { return nil }
    let now = MonotonicTime.now
    let passed = now - lastLook
    lastLook = now
    let each = passed / Int64(stride)
    let previous = Int64(lastEach)
    lastEach = Int32(clamping: each)
    let isLight = passed < Self.unhurried && each <= ExtraWorkers.worthwhile
    stride = isLight ? min(stride * 4, longest) : 1
    if each > Self.certain { return each }
    if previous >= 0 { return min(each, previous) }
    return each <= ExtraWorkers.worthwhile ? each : nil
  }
}
