import CommandLineOperations
import DurableOperations
import FlowFiles
import Foundation
import RunPage
import SystemSupport

/// A run with its steps, for display.
struct RunText {
  private let run: RunSummary
  private let outcome: String?
  private let steps: [RunDetails.Step]
  private let keys: [RunDetails.Step]
  private let step: CurrentStep?

  init(_ details: RunDetails) {
    run = details.summary
    outcome = details.outcome
    step = details.currentStep
    steps = details.steps.filter { $0.key.isEmpty }
    keys = details.steps.filter { !$0.key.isEmpty }
  }

  /// Returns the lines: the run; its finished steps; the step in progress and what it has stored;
  /// the outcome.
  ///
  /// - Parameters:
  ///   - width: The number of columns of the terminal; nil without a terminal.
  ///   - rows: The maximum number of lines, of which the last are kept; nil for all.
  func lines(in width: Int?, rows: Int? = nil) -> [String] {
    var lines = stepLines(in: width)
    let keyLines = Self.table(of: keys, in: width.map { $0 - 6 }) { RawPath($0.key).description }
    lines += keyLines.map { "      " + $0 }
    if let outcome, run.state.hasEnded { lines.append("  outcome  " + outcome.beginning.onOneLine) }
    if let rows, lines.count > rows - 1 {
      lines = ["  …"] + lines.suffix(max(0, rows - 2))
    }
    let head = [RawPath(run.id.text).description, RawPath(run.flow).description, run.stateText]
    lines.insert(head.joined(separator: "  "), at: 0)
    return width.map { width in lines.map { $0.cut(to: width) } } ?? lines
  }

  /// The lines of the steps: the position and the name, aligned, and the rest.
  private func stepLines(in width: Int?) -> [String] {
    var heads = steps.map { (position: "\($0.position)", name: RawPath($0.name).description) }
    var tails = Self.table(of: steps, in: nil)
    if let current {
      heads.append((position: "\(run.step)", name: current.name))
      tails.append(current.text)
    }
    let positionWidth = heads.map(\.position.count).max() ?? 0
    let nameWidth = heads.map(\.name.terminalWidth).max() ?? 0
    return zip(heads, tails).map { head, tail in
      let position = String(repeating: " ", count: positionWidth - head.position.count)
      let name = String(repeating: " ", count: nameWidth - head.name.terminalWidth)
      return "  \(position)\(head.position)  \(head.name)\(name)  \(tail)"
    }
  }

  /// The step in progress; nil if there is none.
  private var current: (name: String, text: String)? {
    if run.state.hasEnded { return nil }
    // Only what the step has stored shows its name.
    let name = step.map { RawPath($0.name).description } ?? "–"
    let since = (step?.began ?? run.updated).minute
    let retry = step?.retryText.map { ", \($0.onOneLine)" } ?? ""
    switch run.state {
    case .ready: return (name, "waits for a worker since \(since)")
    case .running:
      let worker = run.worker.map { " on \(RawPath($0))" } ?? ""
      let claim = run.attempt > 1 ? ", claim \(run.attempt)" : ""
      return (name, "runs\(worker) since \(since)\(claim)\(retry)")
    case .interrupted: return (name, "interrupted; its process has ended\(retry)")
    case .parked: return (name, "waits since \(since)\(retry)")
    case .stuck: return (name, "stuck since \(since)")
    case .result, .error, .cancelled: return nil
    }
  }

  /// Returns one aligned line per step or key: its kind, its duration, its attempts if there was
  /// more than one, its worker if it is known, and the beginning of its value.
  ///
  /// - Parameter title: The first column; empty for none.
  private static func table(
    of steps: [RunDetails.Step], in width: Int?, title: (RunDetails.Step) -> String = { _ in "" }
  ) -> [String] {
    if steps.isEmpty { return [] }
    let cells = steps.map { step in
      [
        title(step), step.kind.rawValue, step.time,
        step.attempts > 1 ? "attempt \(step.attempts)" : "",
        step.worker.map { RawPath($0).description } ?? "", step.value?.beginning ?? "",
      ]
    }
    // An empty column takes no space.
    let columns = cells[0].indices.filter { column in cells.contains { !$0[column].isEmpty } }
    var layout = TableLayout(numbers: [], width: width)
    let text = layout.text(of: cells.map { row in columns.map { row[$0] } })
    return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
  }
}

extension String {
  /// The first 80 characters, with an ellipsis if there are more.
  fileprivate var beginning: String { String(prefix(81)).cut(to: 80) }
}
