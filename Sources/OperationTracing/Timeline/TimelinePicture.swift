internal import SystemSupport

/// An SVG image of a timeline.
struct TimelinePicture {
  private let trace: OperationTrace
  private let tree: TraceTree
  private let selection: TimelineSelection
  private let axis: TimelineAxis

  private static let width = 1_200.0
  private static let margin = 16.0
  private static let rowHeight = 20.0
  /// The vertical position of the first row, below the heading and the axis.
  private static let top = 92.0

  init(of trace: OperationTrace) {
    self.trace = trace
    tree = TraceTree(trace)
    selection = TimelineSelection(of: trace, tree, runs: 2_000, rows: 150)
    let first = tree.created.min() ?? 0
    // A trace of zero length is shown as a microsecond.
    axis = TimelineAxis(first..<max(tree.end, first + 1_000), marks: 10)
  }

  var text: String {
    let bottom = Self.top + Double(selection.rowCount) * Self.rowHeight
    let height = bottom + (selection.omission == nil ? 40 : 62)
    var lines = [
      """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.width.short) \(height.short)" \
      width="\(Self.width.short)" height="\(height.short)" role="img" aria-labelledby="title summary">
      <title id="title">Timeline</title>
      <style>\(Self.style)</style>
      <defs>\(Self.patterns)</defs>
      <rect class="page" width="100%" height="100%"/>
      """
    ]
    lines += heading + marks(to: bottom)
    for (place, row) in zip(selection.places, selection.rows) {
      lines.append(run(at: place, y: Self.top + Double(row) * Self.rowHeight))
    }
    lines.append(legend(at: bottom + 18))
    if let omission = selection.omission {
      lines.append(Self.label(omission, "faint", x: Self.margin, y: bottom + 48))
    }
    return (lines + ["</svg>"]).map { $0 + "\n" }.joined()
  }

  // MARK: Parts

  private var heading: [String] {
    let name = trace.spans.first { $0.parent == nil }?.name ?? "Nothing ran"
    let lines = trace.summary.description.split(separator: "\n").prefix(trace.spans.isEmpty ? 0 : 2)
    let texts = lines.enumerated().map { index, line in
      Self.label(
        line.split(separator: "   ").joined(separator: ", "), "faint", x: Self.margin,
        y: 44 + Double(index) * 16)
    }
    let summary = lines.joined(separator: "; ").escapedForMarkup
    return ["<desc id=\"summary\">\(summary)</desc>"]
      + [Self.label(name.clippedLine(to: 120), "title", x: Self.margin, y: 26)] + texts
  }

  private func marks(to bottom: Double) -> [String] {
    axis.marks.flatMap { mark in
      let x = x(of: mark.time)
      let line =
        "<line class=\"line\" x1=\"\(x.short)\" x2=\"\(x.short)\" y1=\"70\" y2=\"\(bottom.short)\"/>"
      // A label at the right edge has no room.
      guard x < Self.width - 60 else { return [line] }
      return [line, Self.label(mark.label, "faint", x: x + 4, y: 82)]
    }
  }

  private func run(at place: Int, y: Double) -> String {
    let span = trace.spans[place]
    let (from, to) = (x(of: tree.created[place]), x(of: tree.ended[place]))
    let kind = span.pictureClass
    var parts = ["<g><title>\(story(of: span).escapedForMarkup)</title>"]
    // Draws the whole run as waiting, and the running parts over it.
    parts.append(Self.box("w\(kind)", from, to, y))
    tree.forEachRunningTime(of: place) { time in
      parts.append(Self.box(kind, x(of: time.lowerBound), x(of: time.upperBound), y))
    }
    if kind != "r" { parts.append(Self.box("o\(kind)", from, to, y)) }
    let room = Int((to - from - 8) / 6.8)
    if room >= 3 {
      let sign = ["e": "✕ ", "c": "⊘ ", "u": "… "][kind] ?? ""
      let attempt = span.attempt > 1 ? " #\(span.attempt)" : ""
      let name = (sign + span.name + attempt).clippedLine(toWidth: room)
      // Cut at the end of the box: in dark mode, a name beside it would not be readable.
      parts.append(
        "<svg x=\"\(from.short)\" y=\"\(y.short)\" width=\"\((to - from - 1).short)\" height=\"18\">"
          + Self.label(name, "name", x: 4, y: 13) + "</svg>")
    }
    return parts.joined() + "</g>"
  }

  /// The tooltip of a run.
  private func story(of span: OperationTrace.Span) -> String {
    let name = span.attempt > 1 ? "\(span.name) (attempt \(span.attempt))" : span.name
    var lines = [name.clipped(to: 300)]
    lines.append("created at \(span.created.readable)")
    if let duration = span.duration { lines.append("took \(duration.readable)") }
    lines.append(span.end.map { "\($0)".clipped(to: 500) } ?? "not ended")
    for wait in span.waits.prefix(20) {
      let length = wait.ended.map { "\(($0 - wait.began).readable) " } ?? ""
      lines.append("waited \(length)for \(wait.kind)".clipped(to: 300))
    }
    return lines.joined(separator: "\n")
  }

  private func legend(at y: Double) -> String {
    let entries = [
      ("r", "result"), ("e", "✕ error"), ("c", "⊘ cancelled"), ("u", "… not ended"),
      ("wr", "not started yet, or waiting"),
    ]
    return entries.enumerated().map { index, entry in
      let x = Self.margin + Double(index) * 130
      let outline = index > 0 && index < 4 ? Self.box("o\(entry.0)", x, x + 26, y - 4) : ""
      return Self.box(entry.0, x, x + 26, y - 4) + outline
        + Self.label(entry.1, "faint", x: x + 32, y: y + 9)
    }.joined()
  }

  // MARK: Drawing

  private func x(of time: Int64) -> Double {
    let share =
      Double(time - axis.range.lowerBound)
      / Double(axis.range.upperBound - axis.range.lowerBound)
    return Self.margin + min(max(share, 0), 1) * (Self.width - 2 * Self.margin)
  }

  private static func box(_ kind: String, _ from: Double, _ to: Double, _ y: Double) -> String {
    // Leaves a gap between neighbors if there is room.
    let width = max(1, to - from - (to - from > 4 ? 1 : 0))
    return "<rect class=\"\(kind)\" x=\"\(from.short)\" y=\"\(y.short)\" "
      + "width=\"\(width.short)\" height=\"18\"/>"
  }

  private static func label(_ text: String, _ kind: String, x: Double, y: Double) -> String {
    "<text class=\"\(kind)\" x=\"\(x.short)\" y=\"\(y.short)\">\(text.escapedForMarkup)</text>"
  }
}

extension OperationTrace.Span {
  fileprivate var pictureClass: String {
    switch end {
    case .result: "r"
    case .error: "e"
    case .cancelled: "c"
    case nil: "u"
    }
  }
}

extension Double {
  /// The number with up to two decimals. Coordinates are not negative.
  fileprivate var short: String {
    let hundredths = Int(self * 100 + 0.5)
    let (whole, part) = (hundredths / 100, hundredths % 100)
    if part == 0 { return "\(whole)" }
    return part % 10 == 0
      ? "\(whole).\(part / 10)" : "\(whole)." + (part < 10 ? "0" : "") + "\(part)"
  }
}
