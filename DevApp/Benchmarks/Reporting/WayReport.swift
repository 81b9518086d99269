/// The figures of one way.
struct WayReport: Encodable {
  let name: String
  let role: Way.Role
  let median: Double
  let least: Double
  let most: Double
  /// One figure per round, in order.
  let samples: [Double]
  /// The median, divided by the median of the main way.
  var ratio = 1.0

  init(name: String, role: Way.Role, samples: [Double]) {
    let sorted = samples.sorted()
    self.name = name
    self.role = role
    self.samples = samples
    median = Self.median(of: sorted)
    least = sorted.first ?? 0
    most = sorted.last ?? 0
  }

  /// Returns the median, divided by the median of another way; nil if that is 0.
  func ratio(to other: WayReport) -> Double? {
    other.median == 0 ? nil : median / other.median
  }

  private static func median(of sorted: [Double]) -> Double {
    if sorted.isEmpty { return 0 }
    return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
  }
}
