/// The state of a step or a child of a run. The states are in the order in which they need attention.
package enum FlowStepStatus: String, Sendable, CaseIterable, Comparable {
  case failed
  /// The process of the flow has ended while it ran.
  case interrupted
  case running
  case cancelled
  /// It waits for a slot or a lock.
  case ready
  case skipped
  /// It waits for other steps.
  case waiting
  case notRun = "not run"
  case succeeded
  case upToDate = "up to date"
  /// An option excludes it.
  case notSelected = "not selected"

  package static func < (one: Self, other: Self) -> Bool { one.order < other.order }

  private var order: Int { Self.allCases.firstIndex(of: self) ?? 0 }

  /// The state of a step that has begun.
  ///
  /// - Parameters:
  ///   - end: How it has ended; nil if it has not.
  ///   - isLive: Whether a process works on the run.
  package init(_ end: FlowEnd.State?, isLive: Bool) {
    self =
      switch end {
      case .succeeded, .done: .succeeded
      case .failed: .failed
      case .skipped: .skipped
      case .cancelled: .cancelled
      case .upToDate: .upToDate
      case nil: isLive ? .running : .interrupted
      }
  }

  /// The state of a step that has not begun.
  ///
  /// - Parameters:
  ///   - isSelected: Whether no option excludes it.
  ///   - isLive: Whether a process works on the run.
  ///   - needs: The states of the steps that must have succeeded before it begins.
  ///   - after: The states of the steps that must have ended before it begins.
  package init(unbegun isSelected: Bool, isLive: Bool, needs: [Self], after: [Self]) {
    self =
      if !isSelected {
        .notSelected
      } else if !isLive {
        .notRun
      } else if needs.contains(where: { $0.hasEnded && !$0.allowsDependents }) {
        // The run stores that at its end.
        .skipped
      } else if needs.allSatisfy(\.hasEnded), after.allSatisfy(\.hasEnded) {
        .ready
      } else {
        .waiting
      }
  }

  /// Whether steps that need it can begin.
  private var allowsDependents: Bool {
    switch self {
    case .succeeded, .upToDate, .notSelected: true
    default: false
    }
  }

  package var hasEnded: Bool {
    switch self {
    case .ready, .running, .waiting: false
    default: true
    }
  }
}
