import FlowFiles
import Foundation
import SystemSupport

/// A step or a child of a run of a flow file, as a page shows it.
struct FlowStepView: Sendable {
  typealias State = FlowStepStatus

  /// The numbers of children by state.
  typealias Counts = [State: Int]

  /// The name of the step or the child.
  let name: String
  /// The step of a child; nil for a step.
  var parent: String?
  var needs: [String] = []
  /// The steps after whose end it begins.
  var after: [String] = []
  var state: State
  var reason: String?
  var attempts: Int?
  var began: Date?
  var ended: Date?
  /// The number of children that are known; nil without children.
  var childCount: Int?
  var children: Counts = [:]
  /// The store whose workers run its command, if the output is not in the log yet.
  var place: String?

  /// How long it took, or has taken so far; nil if it has not begun.
  func duration(at now: Date) -> Duration? {
    guard let began, let end = ended ?? (state == .running ? now : nil) else { return nil }
    return .milliseconds(max(0, Int64(end.timeIntervalSince(began) * 1_000)))
  }

  /// The duration, which a page continues while the step runs.
  func time(at now: Date) -> HTML? {
    if state == .running, ended == nil, let began { return began.duration(at: now) }
    return duration(at: now).map { "\($0.readableTime)" }
  }

  /// The state with what belongs to it: `2 of 5 children ended, 1 failed`.
  var detail: String? {
    guard let childCount else {
      return attempts == 0 && state == .running ? "checks only-if" : reason
    }
    let ended = children.filter(\.key.hasEnded).values.reduce(0, +)
    let failed = children[.failed].map { ", \($0) failed" } ?? ""
    let children = childCount == 1 ? "1 child" : "\(childCount.grouped) children"
    return "\(ended.grouped) of \(children) ended\(failed)"
  }

  /// The identifier of an element of the page.
  var id: String {
    name.utf8.count <= 200 ? name.encodedForQuery : String(Array(name.utf8).hash64, radix: 16)
  }
}

extension FlowStepStatus {
  /// A sign, for readers who do not see the colors.
  var sign: String {
    switch self {
    case .failed: "✗"
    case .interrupted: "!"
    case .running: "▸"
    case .cancelled: "⊘"
    case .ready: "○"
    case .skipped: "↷"
    case .waiting: "…"
    case .notRun, .notSelected: "–"
    case .succeeded: "✓"
    case .upToDate: "="
    }
  }

  /// The name of its style.
  var style: String { "step-" + rawValue.replacingOccurrences(of: " ", with: "-") }
}
