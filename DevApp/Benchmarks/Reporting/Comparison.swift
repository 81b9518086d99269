import Foundation

/// A summary of the figures for each other way, and of the shapes in which another one is faster.
struct Comparison: Encodable {
  /// Another way, in all shapes in which it is measured; of a shape with several sizes, only the
  /// first size counts. Figures are in times of the figure of this package's main way.
  struct Rival: Encodable {
    let name: String
    let shapes: Int
    let median: Double
    /// The least, and its shape.
    let least: Double
    let worst: String
    /// The most, and its shape.
    let most: Double
    let best: String

    /// - Returns: Nil if there are no figures.
    init?(name: String, figures: [(shape: String, ratio: Double)]) {
      let sorted = figures.sorted { $0.ratio < $1.ratio }
      guard let worst = sorted.first, let best = sorted.last,
        // Of logarithms, so that the mean of two ratios in the middle is their geometric mean.
        let spread = Spread(of: figures.map { log($0.ratio) })
      else { return nil }
      self.name = name
      shapes = figures.count
      median = exp(spread.median)
      least = worst.ratio
      self.worst = worst.shape
      most = best.ratio
      self.best = best.shape
    }
  }

  /// A shape in which another way is faster than the best of this package.
  struct Slower: Encodable {
    let shape: String
    let way: String
    let times: Double
  }

  let rivals: [Rival]
  let slower: [Slower]

  /// Rivals in fewer shapes are left out.
  private static let leastShapes = 3
  /// Ways that are faster by less count as equal.
  private static let leastGap = 1.2

  init(_ shapes: [ShapeReport]) {
    var ratios: [String: [(shape: String, ratio: Double)]] = [:]
    var counted: Set<[String]> = []
    var slower: [Slower] = []
    for shape in shapes where shape.hasEqualWays && (shape.unit.isTime || shape.unit.isRate) {
      let rivals = shape.ways.filter { $0.role == .swift || $0.role == .peer }
      guard let main = shape.ways.first, main.role == .ours else { continue }
      let cost = { shape.unit.cost(of: $0) / shape.unit.cost(of: $1) }
      var best: [String: Double] = [:]
      for way in rivals {
        guard let ratio = Spread(of: way.paired(with: main, cost))?.median else { continue }
        let name = Self.family(of: way)
        // Of several forms of one way, the best counts.
        best[name] = min(best[name] ?? .infinity, ratio)
      }
      for (name, ratio) in best where counted.insert([name, Self.family(of: shape)]).inserted {
        ratios[name, default: []].append((shape.id, ratio))
      }
      let own = shape.ways.filter { $0.role == .ours }.min { cost($0.median, $1.median) < 1 }
      if let own, let fastest = rivals.min(by: { cost($0.median, $1.median) < 1 }),
        let times = Spread(of: own.paired(with: fastest, cost))?.median, times >= Self.leastGap
      {
        slower.append(Slower(shape: shape.id, way: fastest.name, times: times))
      }
    }
    rivals = ratios.compactMap { Rival(name: $0, figures: $1) }
      .filter { $0.shapes >= min(Self.leastShapes, shapes.count) }
      .sorted { ($0.shapes, $1.name) > ($1.shapes, $0.name) }
    self.slower = slower.sorted { $0.times > $1.times }
  }

  /// The name of a shape without its size: `fan-out` for `fan-out-10k`.
  private static func family(of shape: ShapeReport) -> String {
    let size = ["-1k", "-10k", "-100k", "-1m"].first { shape.id.hasSuffix($0) } ?? ""
    return String(shape.id.dropLast(size.count))
  }

  /// The name of a way without its variant: `sliding window` for `sliding window, 2 wide`, and
  /// `oneTBB` for `oneTBB task_group`.
  private static func family(of way: WayReport) -> String {
    let end: Character = way.role == .peer ? " " : ","
    return String(way.name.prefix { $0 != end })
  }
}
