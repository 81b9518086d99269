internal import SystemSupport

/// The runs of a trace that an image without zoom can show: the longest ones, in as many rows as
/// fit on a page.
struct TimelineSelection: Sendable {
  /// The indices of the runs to draw, in their order.
  let places: [Int]
  /// The row in the image of each drawn run.
  let rows: [Int]
  let rowCount: Int
  /// A description of the omitted runs; nil if no run is omitted.
  let omission: String?

  /// - Parameters:
  ///   - count: The maximum number of runs.
  ///   - height: The maximum number of rows.
  init(of trace: OperationTrace, _ tree: TraceTree, runs count: Int, rows height: Int) {
    let all = TimelineRows(trace.spans, tree).rows
    let lengths = zip(tree.created, tree.ended).map { $1 - $0 }
    let longest =
      all.count <= count
      ? Array(all.indices)
      : all.indices.sorted { (lengths[$1], $0) < (lengths[$0], $1) }.prefix(count).sorted()
    // Rows without a drawn run are omitted.
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
