package import CompositeOperations
import SystemSupport

/// The progress of the running operations, as lines of text.
package struct ProgressPage {
  private let branches: [ProgressObserver.Branch]
  private let now: ContinuousClock.Instant

  package init(_ branches: [ProgressObserver.Branch], at now: ContinuousClock.Instant) {
    self.branches = branches
    self.now = now
  }

  /// Returns the lines. If there is not enough room, outer operations take precedence.
  package func lines(in size: TerminalSize) -> [String] {
    let room = max(1, min(size.rows - 2, 16))
    let order = branches.indices.sorted { left, right in
      (branches[left].level, left) < (branches[right].level, right)
    }
    let shown = order.prefix(branches.count > room ? room - 1 : room).sorted()
    var lines = shown.map { index in
      String(repeating: "  ", count: branches[index].level) + text(of: branches[index])
    }
    if branches.count > shown.count {
      lines.append("  … and \((branches.count - shown.count).grouped) more")
    }
    return lines.map { $0.cut(to: max(1, size.columns - 1)) }
  }

  /// The outermost operation with known progress, or else the innermost one.
  package var summary: String? {
    (branches.first { $0.progress.fraction != nil } ?? branches.last).map(text)
  }

  private func text(of branch: ProgressObserver.Branch) -> String {
    let seconds = branch.began.duration(to: now) / .seconds(1)
    let progress = branch.progress
    var parts = [branch.attempt > 1 ? "\(branch.name) (attempt \(branch.attempt))" : branch.name]
    if let percent = progress.percent { parts.append("\(percent) %") }
    // The sum over steps of different kinds is meaningless.
    if progress.completed > 0, branch.level > 0 || progress.fraction != nil {
      parts.append(
        progress.total.map { total in
          let done =
            progress.unit == "bytes" ? progress.completed.asBytes : progress.completed.grouped
          return "\(done) of \(amount(total, progress.unit))"
        } ?? amount(progress.completed, progress.unit))
      // A rate over less than 0.2 s is meaningless.
      if seconds >= 0.2 {
        parts.append("\(amount(Int(Double(progress.completed) / seconds), progress.unit))/s")
      }
    }
    if let left = secondsLeft(of: progress.fraction, after: seconds) {
      parts.append("\(left) s left")
    }
    if branch.endedCount > 0 { parts.append("\(branch.endedCount.grouped) done") }
    if let wait = branch.wait { parts.append("waits for \(wait)") }
    // Names and units may have any characters.
    return parts.joined(separator: "  ").onOneLine
  }

  /// Returns the estimated seconds left; nil if the estimate would be a guess.
  private func secondsLeft(of fraction: Double?, after seconds: Double) -> Int? {
    guard let fraction, fraction >= 0.02, fraction < 1, seconds >= 1 else { return nil }
    return Int((seconds * (1 - fraction) / fraction).rounded(.up))
  }

  private func amount(_ count: Int, _ unit: String?) -> String {
    unit == "bytes" ? count.asBytes : count.grouped + (unit.map { " \($0)" } ?? "")
  }
}
