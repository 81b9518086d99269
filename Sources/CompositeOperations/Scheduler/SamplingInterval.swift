internal import ThreadSupport

/// A time slice: how long a worker keeps its thread before it yields to other tasks.
struct TimeSlice: Sendable {
  /// The length of a slice, in nanoseconds.
  private static let length: Int64 = 5_000_000

  /// `Int64.max` if nothing may depend on a clock. An optional would make every puller larger.
  private let began: Int64

  init(isReproducible: Bool) { began = isReproducible ? .max : MonotonicTime.now }

  private init(began: Int64) { self.began = began }

  /// A slice that is never over.
  static var endless: TimeSlice { TimeSlice(began: .max) }

  /// A slice that is over.
  static var over: TimeSlice { TimeSlice(began: 0) }

  /// The start in nanoseconds of ``MonotonicTime``; nil if nothing may depend on a clock.
  var start: Int64? { began == .max ? nil : began }

  var isOver: Bool { began != .max && isOver(at: MonotonicTime.now) }

  func isOver(at now: Int64) -> Bool { hasLasted(Self.length, at: now) }

  /// Whether it began more than some nanoseconds ago; false if nothing may depend on a clock.
  func hasLasted(_ nanoseconds: Int64, at now: Int64) -> Bool {
    guard let start else { return false }
    return now - start > nanoseconds
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

  /// The time of all measured children, in nanoseconds, that shows how long a child takes. A light
  /// child alone also takes long when its thread is interrupted.
  private static let certain: Int64 = 50_000

  /// When ``look(longest:)`` was called last; `Int64.max` if nothing may depend on a clock.
  private(set) var lastLook: Int64
  private var stride: Int32
  private var untilLook: Int32
  /// How many children have begun since ``lastLook`` when the stride ends.
  private var counted: Int32
  /// The nanoseconds and the number of the children that have been measured and are not certain.
  private var time: Int32 = 0
  private var count: Int32 = 0

  /// - Parameter start: The start of the puller; nil if nothing may depend on a clock.
  init(from start: Int64?) {
    lastLook = start ?? .max
    stride = start == nil ? Self.reproducibleStride : 1
    untilLook = stride
    counted = stride
  }

  init(isReproducible: Bool) { self.init(from: isReproducible ? nil : MonotonicTime.now) }

  /// Excludes the time and the children until now from the current measurement.
  mutating func restart() {
    if lastLook == .max { return }
    lastLook = MonotonicTime.now
    counted = untilLook
  }

  /// Counts a child, and returns whether to call ``look(longest:)`` after it.
  @inline(__always) mutating func isTimeToLook() -> Bool {
    untilLook -= 1
    return untilLook == 0
  }

  /// Measures the duration of the children since the last call.
  ///
  /// - Parameter longest: The most children until the next call.
  /// - Returns: The mean nanoseconds of the children that have been measured recently; nil if they
  ///   seem to be long and have not taken enough time to be certain, or if no clock may be read.
  mutating func look(longest: Int32 = SamplingInterval.longestStride) -> Int64? {
    defer {
      untilLook = stride
      counted = stride
    }
    if lastLook == .max { return nil }
    let now = MonotonicTime.now
    let passed = now - lastLook
    lastLook = now
    time = Int32(clamping: Int64(time) + passed)
    count += counted
    let isLight = passed < Self.unhurried && passed <= Int64(counted) * ExtraWorkers.worthwhile
    stride = isLight ? min(stride * 4, longest) : 1
    let mean = Int64(time) / Int64(count)
    if time >= Self.certain {
      time = 0
      count = 0
    } else if mean > ExtraWorkers.worthwhile {
      return nil
    }
    return mean
  }
}
