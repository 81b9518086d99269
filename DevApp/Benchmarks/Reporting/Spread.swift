/// The median, the least and the most of some figures.
struct Spread {
  let median: Double
  let least: Double
  let most: Double

  /// - Returns: Nil if there are no figures.
  init?(of figures: [Double]) {
    let sorted = figures.sorted()
    guard let least = sorted.first, let most = sorted.last else { return nil }
    median = (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    self.least = least
    self.most = most
  }

  /// Whether figures above 0 form two groups, so that the median is the figure of one of them.
  ///
  /// Each group has at least three figures and a quarter of all. The gap between them is more than a
  /// fifth of its lower side, and more than half of the whole range.
  static func isBimodal(_ figures: [Double]) -> Bool {
    let sorted = figures.sorted()
    let least = max(3, (sorted.count + 3) / 4)
    guard sorted.count >= 2 * least, sorted[0] > 0 else { return false }
    let range = sorted[sorted.count - 1] - sorted[0]
    return (least...sorted.count - least).contains { split in
      let gap = sorted[split] - sorted[split - 1]
      return gap > sorted[split - 1] / 5 && gap > range / 2
    }
  }
}
