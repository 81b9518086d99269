/// How long a lane keeps its thread before it lets others have it.
struct Slice: Sendable {
  /// In nanoseconds.
  private static let length: Int64 = 5_000_000

  /// `Int64.max` where nothing may depend on a clock: that takes less room than nil, in every puller.
  private let began: Int64

  init(isReproducible: Bool) { began = isReproducible ? .max : MonotonicTime.now }

  /// By the monotonic clock. Nil where nothing may depend on a clock.
  var start: Int64? { began == .max ? nil : began }

  var isOver: Bool {
    guard let start else { return false }
    return MonotonicTime.now - start > Self.length
  }
}

/// When a puller looks around: often while its children take long, seldom while they do not.
///
/// Looking costs a reading of the clock, more than an empty child.
struct Pace: Sendable {
  /// In nanoseconds.
  private static let unhurried: Int64 = 50_000
  static let longestStride: Int32 = 256
  /// Where children are of many kinds, and light ones say little of the next.
  static let mixedStride: Int32 = 32
  private static let reproducibleStride: Int32 = 64

  /// `Int64.max` where nothing may depend on a clock.
  private var lastLook: Int64
  private var stride: Int32
  private var untilLook: Int32

  /// - Parameter start: When the puller begins; nil where nothing may depend on a clock.
  init(from start: Int64?) {
    lastLook = start ?? .max
    stride = start == nil ? Self.reproducibleStride : 1
    untilLook = stride
  }

  init(isReproducible: Bool) { self.init(from: isReproducible ? nil : MonotonicTime.now) }

  /// Counts a child, and says whether to look around after it.
  @inline(__always) mutating func isTimeToLook() -> Bool {
    untilLook -= 1
    return untilLook == 0
  }

  /// How many nanoseconds a child has taken since the last look; nil where nothing may depend on a
  /// clock.
  ///
  /// - Parameter longest: How many children there are at most until the next look.
  mutating func look(longest: Int32 = Pace.longestStride) -> Int64? {
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
