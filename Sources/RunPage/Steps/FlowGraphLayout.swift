/// The places of the steps of a flow file in a picture, and the ways of the lines between them.
///
/// The steps are in columns from left to right, each one in a column after those of its dependencies. A
/// line that passes a column has a place of its own between the steps of the column. The lines that begin
/// at the same step share it.
struct FlowGraphLayout {
  /// The size of a step.
  static let (width, height) = (168, 40)
  /// The number of steps in a column. A layer with more of them has several columns.
  private static let mostRows = 12
  private static let (columnGap, layerGap) = (28, 56)
  /// The distances of a step from the next step or line, and of two lines.
  private static let (rowGap, lineGap) = (12, 7)

  /// A place in a column.
  struct Place {
    let column: Int
    /// The middle.
    fileprivate(set) var y: Int
  }

  /// A step, or the lines that begin at a step and pass the column.
  private struct Item {
    let name: String
    let isStep: Bool
    /// Where its lines come from.
    let weight: Double
  }

  /// The size of the picture.
  private(set) var size = (width: 0, height: 0)
  /// The left edges of the columns.
  private var columns: [Int] = []
  private var steps: [String: Place] = [:]
  /// The places that the lines pass, by the step at which they begin.
  private var passages: [String: [Place]] = [:]
  /// Where the lines of a step are, on the right of the last column.
  private var ends: [String: Int] = [:]
  /// The number of lines of a step that do not have a target yet.
  private var open: [String: Int] = [:]
  /// The vertical extent of the columns, whose middle is 0 at first.
  private var (top, bottom) = (0, 0)

  /// - Parameter steps: The steps, each one after its dependencies. Unknown dependencies are ignored.
  init(_ steps: [(name: String, dependencies: [String])]) {
    var layers: [[(name: String, dependencies: Set<String>)]] = []
    var indices: [String: Int] = [:]
    for step in steps {
      let known = Set(step.dependencies.filter { indices[$0] != nil })
      let layer = known.compactMap { indices[$0] }.max().map { $0 + 1 } ?? 0
      indices[step.name] = layer
      if layer == layers.count { layers.append([]) }
      layers[layer].append((step.name, known))
      for name in known { open[name, default: 0] += 1 }
    }
    // In the order of the steps, so that the picture is the same each time.
    var begun: [String] = []
    for layer in layers {
      let sorted = layer.enumerated().map { index, step in
        (weight: weight(step.dependencies), index: index, step: step)
      }.sorted { ($0.weight, $0.index) < ($1.weight, $1.index) }.map(\.step)
      for start in stride(from: 0, to: sorted.count, by: Self.mostRows) {
        let part = sorted[start...].prefix(Self.mostRows)
        for step in part { for name in step.dependencies { open[name, default: 0] -= 1 } }
        begun.removeAll { open[$0] == 0 }
        let items =
          part.map { Item(name: $0.name, isStep: true, weight: weight($0.dependencies)) }
          + begun.map { Item(name: $0, isStep: false, weight: weight([$0])) }
        addColumn(items, after: start == 0 ? Self.layerGap : Self.columnGap)
        begun += part.map(\.name).filter { open[$0] ?? 0 > 0 }
      }
    }
    shift()
  }

  /// The mean of the places that lines come from.
  private func weight(_ names: Set<String>) -> Double {
    let known = names.compactMap { ends[$0] }
    return known.isEmpty ? 0 : Double(known.reduce(0, +)) / Double(known.count)
  }

  private mutating func addColumn(_ items: [Item], after gap: Int) {
    let column = columns.count
    columns.append(columns.last.map { $0 + Self.width + gap } ?? Self.rowGap)
    let order = items.enumerated().sorted {
      ($0.element.weight, $0.offset) < ($1.element.weight, $1.offset)
    }.map(\.element)
    var (y, middles) = (0, [Int]())
    for (index, item) in order.enumerated() {
      if index > 0 {
        y += item.isStep || order[index - 1].isStep ? Self.rowGap : Self.lineGap
      }
      let height = item.isStep ? Self.height : 0
      middles.append(y + height / 2)
      y += height
    }
    for (item, middle) in zip(order, middles) {
      let place = Place(column: column, y: middle - y / 2)
      if item.isStep {
        steps[item.name] = place
      } else {
        passages[item.name, default: []] += [place]
      }
      ends[item.name] = place.y
    }
    (top, bottom) = (min(top, -y / 2), max(bottom, y - y / 2))
  }

  /// Moves all places so that the picture begins at 0.
  private mutating func shift() {
    let distance = Self.rowGap - top
    for name in steps.keys { steps[name]?.y += distance }
    for (name, places) in passages {
      passages[name] = places.map { Place(column: $0.column, y: $0.y + distance) }
    }
    size = (
      (columns.last ?? 0) + Self.width + Self.rowGap, bottom - top + 2 * Self.rowGap
    )
  }

  /// The left top corner of a step.
  func corner(of step: String) -> (x: Int, y: Int)? {
    steps[step].map { (columns[$0.column], $0.y - Self.height / 2) }
  }

  /// The ways of the lines from a step to others, as SVG writes them: the part that they share, and
  /// the last curve of each. A line bends only between two columns.
  ///
  /// - Parameter others: The steps that other lines from the step lead to. What is shared with these
  ///   lines is left out.
  func lines(
    from source: String, to targets: [String], besides others: [String] = []
  ) -> String {
    guard let from = steps[source] else { return "" }
    let places = [from] + passages[source, default: []]
    func curve(from place: Place, to next: Place) -> String {
      let (x, left) = (columns[place.column] + Self.width, columns[next.column])
      let middle = (x + left) / 2
      return "C\(middle) \(place.y) \(middle) \(next.y) \(left) \(next.y)"
    }
    func begin(at place: Place) -> String { "M\(columns[place.column] + Self.width) \(place.y)" }
    /// The index of the place from which a line curves to a step. There is one in each column.
    func lastIndex(before target: Place) -> Int {
      min(target.column - from.column, places.count) - 1
    }
    func known(_ names: [String]) -> [Place] {
      names.compactMap { steps[$0] }.filter { $0.column > from.column }
    }
    let first = known(others).map(lastIndex(before:)).max() ?? 0
    let last = known(targets).map(lastIndex(before:)).max() ?? 0
    var ways = ""
    if first < last {
      ways += begin(at: places[first])
      for (place, next) in zip(places[first..<last], places[(first + 1)...]) {
        ways += curve(from: place, to: next) + "H\(columns[next.column] + Self.width)"
      }
    }
    for target in known(targets) {
      let place = places[lastIndex(before: target)]
      ways += begin(at: place) + curve(from: place, to: target)
    }
    return ways
  }
}
