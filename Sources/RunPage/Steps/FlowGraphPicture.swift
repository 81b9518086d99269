import FlowFiles
import Foundation
import SystemSupport

/// The graph of the steps of a flow file as a picture in a page: from left to right, each step after
/// the steps that it depends on.
struct FlowGraphPicture {
  /// The number of steps that a picture shows.
  static let mostSteps = 200

  /// The steps of the picture, each one after its dependencies.
  let steps: [FlowStepView]
  /// The address of the log of a step.
  let link: (FlowStepView) -> String
  let now: Date

  var html: HTML {
    let layout = FlowGraphLayout(steps.map { ($0.name, $0.needs + $0.after) })
    var (needing, following) = ([String: [String]](), [String: [String]]())
    for step in steps {
      for name in step.needs { needing[name, default: []].append(step.name) }
      for name in step.after { following[name, default: []].append(step.name) }
    }
    let edges = steps.flatMap { step in
      let (solid, dashed) = (needing[step.name, default: []], following[step.name, default: []])
      return [
        path(layout.lines(from: step.name, to: solid), ""),
        path(
          layout.lines(from: step.name, to: dashed, besides: solid), " class=\"after\""),
      ]
    }
    let nodes = steps.compactMap { step in layout.corner(of: step.name).map { node(step, at: $0) } }
    let (width, height) = layout.size
    return """
      <svg viewBox="0 0 \(width) \(height)" width="\(width)" height="\(height)" aria-hidden="true">
      <g class="edges">\(edges.joined())</g>
      \(nodes.joined())</svg>

      """
  }

  private func path(_ lines: String, _ attributes: HTML) -> HTML {
    lines.isEmpty ? "" : "<path\(attributes) d=\"\(attribute: lines)\"/>"
  }

  private func node(_ step: FlowStepView, at corner: (x: Int, y: Int)) -> HTML {
    let name =
      step.name.unicodeScalars.count > 20
      ? String(step.name.unicodeScalars.prefix(19)) + "…" : step.name
    let (x, y) = (corner.x + 10, corner.y)
    return """
      <a href="\(attribute: link(step))" tabindex="-1" class="\(attribute: step.state.style)">\
      <title>\(title: String(step.name.prefix(200))): \(title: step.text(at: now))</title>\
      <rect x="\(corner.x)" y="\(y)" width="\(FlowGraphLayout.width)" \
      height="\(FlowGraphLayout.height)" rx="5"/>\
      <text class="name" x="\(x)" y="\(y + 17)">\(title: name)</text>\
      <text x="\(x)" y="\(y + 33)"\(step.ticking)>\(title: step.shortText(at: now))</text></a>

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

  /// The attributes by which a page continues the time in the short text.
  fileprivate var ticking: HTML {
    guard state == .running, childCount == nil, ended == nil, let began else { return "" }
    return " data-since=\"\(began.iso8601)\" data-before=\"\(state.sign) \(state.rawValue), \""
  }
}
