internal import SystemSupport

/// The marks of a time axis, in nanoseconds.
struct TimelineAxis: Sendable {
  let range: Range<Int64>
  /// The time between two marks.
  let step: Int64
  private let unit: (name: String, size: Int64)

  private static let units: [(name: String, size: Int64)] = [
    ("ns", 1), ("µs", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000),
  ]

  /// - Parameters:
  ///   - range: The range of the axis, which is not empty.
  ///   - count: The approximate maximum number of marks.
  init(_ range: Range<Int64>, marks count: Int64) {
    self.range = range
    step = Self.step(over: max(1, (range.upperBound - range.lowerBound) / count))
    let most = range.upperBound
    unit = Self.units.last { $0.size <= most } ?? Self.units[0]
  }

  /// The marks with their labels.
  var marks: [(time: Int64, label: String)] {
    let first = (range.lowerBound + step - 1) / step * step
    return stride(from: first, through: range.upperBound, by: Int64.Stride(step)).map { time in
      (time, label(of: time))
    }
  }

  /// A step of 1, 2 or 5 times a power of ten, or a whole number of minutes as clocks show them.
  private static func step(over least: Int64) -> Int64 {
    let minute: Int64 = 60_000_000_000
    if least > minute * 5 / 6 {
      let steps = [1, 2, 5, 10, 15, 30, 60, 120, 360, 720, 1440] as [Int64]
      return steps.map { $0 * minute }.first { $0 >= least } ?? (least / minute + 1) * minute
    }
    var power: Int64 = 1
    while power * 10 <= least { power *= 10 }
    return [1, 2, 5].map { $0 * power }.first { $0 >= least } ?? power * 10
  }

  private func label(of time: Int64) -> String {
    if time == 0 { return "0" }
    if step >= 1_000_000_000, time >= 60_000_000_000 { return Duration.nanoseconds(time).readable }
    // As many decimals as the step needs.
    var (scale, places) = (1 as Int64, 0)
    while step * scale % unit.size != 0 { (scale, places) = (scale * 10, places + 1) }
    let parts = time / (unit.size / scale)
    guard places > 0 else { return "\(parts) \(unit.name)" }
    let digits = String(parts % scale)
    let zeros = String(repeating: "0", count: places - digits.count)
    return "\(parts / scale).\(zeros)\(digits) \(unit.name)"
  }
}
