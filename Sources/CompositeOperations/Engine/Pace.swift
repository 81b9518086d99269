/// How long a lane keeps its thread before it lets others have it.
struct Slice: Sendable {
  private static let length = Duration.milliseconds(5)

  /// Nil where nothing may depend on a clock.
  private let start: ContinuousClock.Instant?

  init(isReproducible: Bool) { start = isReproducible ? nil : .now }

  var isOver: Bool {
    guard let start else { return false }
    return ContinuousClock.now - start > Self.length
  }
}

/// When a puller looks around: often while its children take long, seldom while they do not.
///
/// Looking costs a reading of the clock, more than an empty child.
struct Pace {
  private static let unhurried = Duration.microseconds(50)
  private static let longestStride = 256
  private static let reproducibleStride = 64

  private var lastLook: ContinuousClock.Instant?
  private var stride: Int
  private var untilLook: Int

  init(isReproducible: Bool) {
    lastLook = isReproducible ? nil : .now
    stride = isReproducible ? Self.reproducibleStride : 1
    untilLook = stride
  }

  /// Counts a child, and says whether to look around after it.
  @inline(__always) mutating func isTimeToLook() -> Bool {
    untilLook -= 1
    return untilLook == 0
  }

  /// How long a child has taken since the last look; nil where nothing may depend on a clock.
  mutating func look() -> Duration? {
    defer { untilLook = stride }
    guard let last = lastLook else { return nil }
    let now = ContinuousClock.now
    let passed = now - last
    let each = passed / stride
    stride = passed < Self.unhurried ? min(stride * 4, Self.longestStride) : 1
    lastLook = now
    return each
  }
}
