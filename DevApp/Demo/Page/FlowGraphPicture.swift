import Foundation

/// The graph of the steps of a flow file as a picture in a page: from left to right, each step after
/// the steps that it depends on.
struct FlowGraphPicture {
  /// The number of steps that a picture shows.
  static let mostSteps = 200
  /// The number of steps in a column. A layer with more of them has several columns.
  private static let mostRows = 12
  private static let (width, height) = (168, 40)
  private static let (columnGap, layerGap, rowGap) = (16, 56, 12)

  private struct Place {
    let x: Int
    let y: Int
    var left: String { "\(x) \(y + height / 2)" }
    var right: String { "\(x + width) \(y + height / 2)" }
  }

  /// The steps of the picture, each one after its dependencies.
  let steps: [FlowStepView]
  /// The address of the log of a step.
  let link: (FlowStepView) -> String
  let now: Date

  var html: HTML {
    let columns = columns
    let rows = columns.map(\.steps.count).max() ?? 0
    let total = rows * (Self.height + Self.rowGap) + Self.rowGap
    var places: [String: Place] = [:]
    var x = Self.rowGap
    for (index, column) in columns.enumerated() {
      if index > 0 {
        x +=
          Self.width + (column.layer == columns[index - 1].layer ? Self.columnGap : Self.layerGap)
      }
      let own = column.steps.count * (Self.height + Self.rowGap) - Self.rowGap
      for (row, step) in column.steps.enumerated() {
        places[step.name] = Place(x: x, y: (total - own) / 2 + row * (Self.height + Self.rowGap))
      }
    }
    let width = x + Self.width + Self.rowGap
    let edges = steps.flatMap { step in
      step.needs.map { edge($0, step.name, places, "") }
        + step.after.map { edge($0, step.name, places, " class=\"after\"") }
    }
    let nodes = steps.compactMap { step in places[step.name].map { node(step, at: $0) } }
    return """
      <svg viewBox="0 0 \(width) \(total)" width="\(width)" height="\(total)" aria-hidden="true">
      <g class="edges">\(edges.joined())</g>
      \(nodes.joined())</svg>

      """
  }

  /// The columns from left to right. A step is in the layer after the last of its dependencies, beside
  /// them as far as possible.
  private var columns: [(layer: Int, steps: [FlowStepView])] {
    var layers: [[FlowStepView]] = []
    var indices: [String: Int] = [:]
    for step in steps {
      let layer = (step.needs + step.after).compactMap { indices[$0] }.max().map { $0 + 1 } ?? 0
      indices[step.name] = layer
      if layer == layers.count { layers.append([]) }
      layers[layer].append(step)
    }
    var positions: [String: Double] = [:]
    var columns: [(layer: Int, steps: [FlowStepView])] = []
    for (layer, steps) in layers.enumerated() {
      let weighted = steps.enumerated().map { index, step in
        let known = (step.needs + step.after).compactMap { positions[$0] }
        let mean = known.isEmpty ? 0 : known.reduce(0, +) / Double(known.count)
        return (weight: mean, index: index, step: step)
      }
      let sorted = weighted.sorted { ($0.weight, $0.index) < ($1.weight, $1.index) }.map(\.step)
      for (index, step) in sorted.enumerated() {
        positions[step.name] = (Double(index) + 0.5) / Double(sorted.count)
      }
      for start in stride(from: 0, to: sorted.count, by: Self.mostRows) {
        columns.append((layer, Array(sorted[start...].prefix(Self.mostRows))))
      }
    }
    return columns
  }

  private func edge(
    _ source: String, _ target: String, _ places: [String: Place], _ attributes: HTML
  ) -> HTML {
    guard let from = places[source], let to = places[target] else { return "" }
    let middle = (from.x + Self.width + to.x) / 2
    let curve =
      "M\(from.right)C\(middle) \(from.y + Self.height / 2) \(middle) \(to.y + Self.height / 2) "
      + to.left
    return "<path\(attributes) d=\"\(attribute: curve)\"/>"
  }

  private func node(_ step: FlowStepView, at place: Place) -> HTML {
    let name =
      step.name.unicodeScalars.count > 20
      ? String(step.name.unicodeScalars.prefix(19)) + "…" : step.name
    let (x, y) = (place.x + 10, place.y)
    return """
      <a href="\(attribute: link(step))" tabindex="-1" class="\(attribute: step.state.style)">\
      <title>\(title: String(step.name.prefix(200))): \(title: step.text(at: now))</title>\
      <rect x="\(place.x)" y="\(y)" width="\(Self.width)" height="\(Self.height)" rx="5"/>\
      <text class="name" x="\(x)" y="\(y + 17)">\(title: name)</text>\
      <text x="\(x)" y="\(y + 33)">\(title: step.shortText(at: now))</text></a>

      """
  }
}

extension FlowStepView {
  /// The state with its sign, and how long the step has taken.
  func text(at now: Date) -> String {
    let time = duration(at: now).map { ", \($0.readableTime)" } ?? ""
    return "\(state.sign) \(state.rawValue)\(time)"
  }

  /// The same in a few characters, with the number of children that have ended.
  fileprivate func shortText(at now: Date) -> String {
    guard let childCount, state == .running || state == .interrupted else { return text(at: now) }
    let ended = children.filter(\.key.hasEnded).values.reduce(0, +)
    return "\(state.sign) \(state.rawValue), \(ended.grouped) of \(childCount.grouped)"
  }
}
