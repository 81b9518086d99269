import CommandLineOperations
import DurableOperations
import Foundation
import SystemSupport

extension RunSummary {
  /// The state, with what the run waits for, or when and why it ended.
  var stateText: String {
    var text = state.rawValue
    switch state {
    case .ready: break
    case .running: if ownerHasEnded { text += " in a process that has ended" }
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
      ? "its child \(RawPath(String(event.dropFirst(child.count))))"
      : "the event \"\(RawPath(event))\""
  }
}

extension Date {
  /// The date in the time zone of the user, to the minute: `2026-11-30 14:28`.
  var minute: String {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .current
    let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute], from: self)
    func digits(_ number: Int?) -> String {
      let text = "\(number ?? 0)"
      return text.count < 2 ? "0" + text : text
    }
    return "\(parts.year ?? 0)-\(digits(parts.month))-\(digits(parts.day)) "
      + "\(digits(parts.hour)):\(digits(parts.minute))"
  }

  /// The date in UTC with milliseconds, as in ISO 8601.
  var iso8601: String { formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)) }
}
