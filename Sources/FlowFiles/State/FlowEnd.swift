import CompositeOperations
package import CompositeOperationsFoundation
import SystemSupport

/// How a step, or a child of a step, ended.
public struct FlowEnd: Sendable {
  public enum State: String, Sendable, CaseIterable {
    case succeeded, failed, skipped, cancelled
    case upToDate = "up to date"
    /// It had succeeded before an interruption of the run.
    case done
  }

  /// The name of the step, or of the child: `step[value]`.
  public let unit: String
  public let state: State
  /// The failure, or why it was skipped.
  public let reason: String?
  /// The time since its first attempt began.
  public let duration: Duration?
  /// The number of attempts that have begun; 0 for a step with children.
  public let attempts: Int
  /// The last lines of the output of a failed step.
  public let lastLines: [String]
  /// The path of the log of a failed step.
  public let log: String?
  /// Whether it is a child of a step.
  public let isChild: Bool

  init(
    unit: String, state: State, reason: String? = nil, duration: Duration? = nil, attempts: Int = 0,
    lastLines: [String] = [], log: String? = nil, isChild: Bool = false
  ) {
    (self.unit, self.state, self.reason, self.duration) = (unit, state, reason, duration)
    (self.attempts, self.lastLines, self.log) = (attempts, lastLines, log)
    self.isChild = isChild
  }

  /// The line for a program or a person that reads the output.
  package var line: String {
    var text = "\(unit.onOneLine): \(state.rawValue)"
    if let reason { text += ", \(reason.onOneLine)" }
    if let duration {
      text += " (\(attempts > 1 ? "\(attempts) attempts, " : "")\(duration.readableTime))"
    }
    return text
  }

  /// The message of a failed step.
  var message: String {
    var text = "step '\(unit.onOneLine)' failed: \((reason ?? "").onOneLine)"
    if let duration {
      if attempts > 0 { text += " after \(attempts.counted("attempt"))" }
      text += " (\(duration.readableTime))"
    }
    if !lastLines.isEmpty {
      text += "; its last lines:" + lastLines.map { "\n  \($0)" }.joined()
    }
    return text
  }
}

/// Why a step or a child failed.
package enum FlowFailure: Error, CustomStringConvertible {
  case status(ProcessStatus)
  case timeout(Duration)
  case onlyIf(ProcessStatus)
  case children(failed: Int, of: Int)
  case lines(String)
  case other(String)

  init(_ error: any Error) {
    switch error {
    case let failure as FlowFailure: self = failure
    case let exit as ProcessExitError: self = .status(exit.result.status)
    case let timeout as TimeoutError: self = .timeout(timeout.limit)
    default: self = .other("\(error)")
    }
  }

  package var description: String {
    switch self {
    case .status(let status): "\(status)"
    case .timeout(let limit): "timeout of \(limit.readableTime)"
    case .onlyIf(let status): "only-if ended with \(status)"
    case .children(let failed, let count):
      "\(failed) of \(count == 1 ? "1 child" : "\(count.grouped) children") failed"
    case .lines(let problem): problem
    case .other(let text): text
    }
  }
}
