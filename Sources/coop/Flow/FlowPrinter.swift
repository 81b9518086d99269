import CommandLineOperations
import CompositeOperations
import FlowFiles
import SystemSupport

/// Prints what happens in a run: a line for each step that ends, or JSON events; and messages on
/// standard error.
struct FlowPrinter: Sendable {
  enum Style: Sendable {
    /// A line for each step that has ended.
    case lines
    /// A line with a JSON object for each event.
    case json
    /// Nothing; a terminal shows the progress.
    case silent
  }

  let style: Style
  /// Pauses the progress display, or continues it.
  let pauseProgress: @Sendable (Bool) -> Void

  @Sendable func print(_ event: FlowRunEvent) {
    switch event.kind {
    case .message(let text): StandardError().writeLine("coop flow: \(text)")
    case .terminal(let isUsed): pauseProgress(isUsed)
    case .runBegan, .stepBegan, .runEnded: if style == .json { writeJSON(event) }
    case .stepEnded(let end):
      switch style {
      case .silent: return
      case .lines: write(end.line)
      case .json: writeJSON(event)
      }
    }
  }

  private func writeJSON(_ event: FlowRunEvent) {
    var json = JSONWriter()
    json.object { json in
      switch event.kind {
      case .message, .terminal: break
      case .runBegan(let isResumed, let stepCount):
        begin("run-began", event, &json)
        json.name("resumed")
        json.literal(isResumed ? "true" : "false")
        json.member("steps", stepCount)
      case .stepBegan(let name):
        begin("step-began", event, &json)
        json.member("step", name)
      case .stepEnded(let end):
        begin("step-ended", event, &json)
        json.member("step", end.unit)
        json.member("state", end.state.rawValue)
        if let reason = end.reason { json.member("reason", reason) }
        if let duration = end.duration {
          json.name("seconds")
          json.number(duration / .seconds(1))
          json.member("attempts", end.attempts)
        }
      case .runEnded(let state, let counts):
        begin("run-ended", event, &json)
        json.member("state", state.rawValue)
        for state in FlowEnd.State.allCases {
          json.member(state.rawValue, counts[state] ?? 0)
        }
      }
    }
    write(json.text)
  }

  private func begin(_ name: String, _ event: FlowRunEvent, _ json: inout JSONWriter) {
    json.member("event", name)
    json.member("time", "\(CivilTime(EventTime.wallClockNow))")
    json.member("flow", event.flow)
    json.member("run", event.run)
  }

  // A reader that has gone does not stop the flow. A line is one write, so that lines of several
  // tasks do not mix.
  private func write(_ line: String) { try? StandardOutput().write(Array("\(line)\n".utf8)) }
}
