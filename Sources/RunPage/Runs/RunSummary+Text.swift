package import DurableOperations
import FlowFiles
import Foundation
import SystemSupport

extension RunSummary {
  /// The state, with what the run waits for, or when and why it ended.
  package var stateText: String {
    var text = state.rawValue
    switch state {
    case .ready: break
    case .running:
      if let ownerProblem { text += " in a process that may have ended: \(ownerProblem)" }
    case .interrupted: text += ownerHasEnded ? ": its process has ended" : ""
    case .parked:
      if let wakes { text += " until \(wakes.minute)" }
      if let event { text += " for \(Self.awaited(event))" }
    case .stuck: text += reason.map { ": \($0)" } ?? ""
    case .result, .error: text += ended.map { " at \($0.minute)" } ?? ""
    case .cancelled:
      text += (ended.map { " at \($0.minute)" } ?? "") + (reason.map { " because \($0)" } ?? "")
    }
    if !state.hasEnded, let cancelled {
      text += ", cancellation requested at \(cancelled.minute)"
    }
    return text.onOneLine
  }

  /// What a parked run waits for.
  private static func awaited(_ event: String) -> String {
    let child = "@child:"
    return event.hasPrefix(child)
      ? "its child \(String(event.dropFirst(child.count)).escapedForShell)"
      : "the event \"\(event.escapedForShell)\""
  }
}

extension CurrentStep {
  /// `attempt 2 of 6`; nil if the step is not retried.
  package var attemptText: String? {
    attempt.map { "attempt \($0)" + (attemptLimit.map { " of \($0)" } ?? "") }
  }

  /// Why an attempt follows: `attempt 2 of 6 failed, next at …: reason`.
  package var retryText: String? {
    guard let attemptText else { return nil }
    let reason = lastError.map { ": \($0)" } ?? ""
    if let nextAttempt { return "\(attemptText) failed, next at \(nextAttempt.second)\(reason)" }
    return attemptText + (lastError.map { ", after \($0)" } ?? "")
  }
}

extension RunDetails.Step {
  /// How long the last attempt took.
  package var time: String {
    let milliseconds = Int64((ended.timeIntervalSince(began) * 1_000).rounded())
    return milliseconds > 0 ? Duration.milliseconds(milliseconds).readable : "< 1 ms"
  }
}
