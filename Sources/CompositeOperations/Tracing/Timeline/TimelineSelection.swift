/// The runs of a trace that a picture without zoom can show: the longest, and of those as many rows as a page has.
struct TimelineSelection: Sendable {
  /// The runs that are drawn, in their order.
  let places: [Int]
  /// The row of the picture in which each of them stands.
  let rows: [Int]
  let rowCount: Int
  /// What is left out, in a sentence or two; nil if nothing is.
  let omission: String?

  /// - Parameters:
  ///   - count: How many runs are drawn at most.
  ///   - height: How many rows there are at most.
  init(of trace: OperationTrace, _ tree: TraceTree, runs count: Int, rows height: Int) {
    let all = TimelineRows(trace.spans, tree).rows
    let lengths = zip(tree.created, tree.ended).map { $1 - $0 }
    let longest =
      all.count <= count
      ? Array(all.indices)
      : all.indices.sorted { (lengths[$1], $0) < (lengths[$0], $1) }.prefix(count).sorted()
    // Rows in which nothing is drawn are left out.
    let used = Set(longest.map { all[$0] }).sorted()
    let places = Dictionary(uniqueKeysWithValues: used.prefix(height).enumerated().map { ($1, $0) })
    self.places = longest.filter { places[all[$0]] != nil }
    rows = self.places.compactMap { places[all[$0]] }
    rowCount = min(used.count, height)
    guard self.places.count < all.count else {
      omission = nil
      return
    }
    let drawn = Set(self.places)
    let others = all.indices.filter { !drawn.contains($0) }
    let failures = others.count { if case .error = trace.spans[$0].end { true } else { false } }
    let most = Duration.nanoseconds(others.map { lengths[$0] }.max() ?? 0).readable
    var text = "Showing \(self.places.count) of \(all.count) runs, the longest"
    if used.count > height { text += " in the first \(height) of \(used.count) rows" }
    text += ". The others took \(most) or less, and \(failures) of them ended in an error."
    omission = text
  }
}
