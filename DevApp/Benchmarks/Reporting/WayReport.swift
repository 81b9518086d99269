/// The figures of one way.
struct WayReport: Encodable {
  let name: String
  let role: Way.Role
  let median: Double
  let least: Double
  let most: Double
  /// Whether the figures form two groups, so that the median is that of one group, by chance.
  let isBimodal: Bool
  /// One figure per round, in order.
  let samples: [Double]
  /// The median, divided by the median of the main way.
  var ratio = 1.0

  init(name: String, role: Way.Role, samples: [Double]) {
    let spread = Spread(of: samples)
    self.name = name
    self.role = role
    self.samples = samples
    median = spread?.median ?? 0
    least = spread?.least ?? 0
    most = spread?.most ?? 0
    isBimodal = Spread.isBimodal(samples)
  }

  /// Returns the median, divided by the median of another way; nil if that is 0.
  func ratio(to other: WayReport) -> Double? {
    other.median == 0 ? nil : median / other.median
  }

  /// Compares the figures of each round in which both ways were measured.
  ///
  /// - Returns: One figure for each of these rounds; none if one of them is not finite.
  func paired(with other: WayReport, _ compare: (Double, Double) -> Double) -> [Double] {
    let compared = zip(samples, other.samples).map(compare)
    return compared.allSatisfy(\.isFinite) ? compared : []
  }
}
