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

  /// Keeps the lines of several tasks apart.
  private static let turn = Lock(())

  @Sendable func print(_ event: FlowEvent) {
    switch event.kind {
    case .output(let unit, let lines): write(lines, of: unit)
    case .message(let text): StandardError().writeLine("coop flow: \(text)")
    case .failure(let text): StandardError().writeFailure("coop flow: \(text)")
    case .terminal(let isUsed): pauseProgress(isUsed)
    case .runBegan, .stepBegan, .runEnded: if style == .json { writeJSON(event) }
    case .stepEnded(let end):
      switch style {
      case .silent: return
      case .lines:
        let output = StandardOutput()
        write(end.state == .failed ? output.highlightedFailure(end.line) : end.line)
      case .json: writeJSON(event)
      }
    }
  }

  private func writeJSON(_ event: FlowEvent) {
    var json = JSONWriter()
    json.object { json in
      switch event.kind {
      case .message, .failure, .output, .terminal: break
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
        if let log = end.log {
          json.member("lines", end.lastLines)
          json.member("log", log)
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

  private func begin(_ name: String, _ event: FlowEvent, _ json: inout JSONWriter) {
    json.member("event", name)
    json.member("time", "\(CivilTime(EventTime.wallClockNow))")
    json.member("flow", event.flow)
    json.member("run", event.run)
    if let name = event.name { json.member("name", name) }
  }

  /// Writes the output of a command, each line after the name of its step or child.
  private func write(_ lines: [UInt8], of unit: String) {
    let prefix = Array("\(unit.onOneLine) | ".utf8)
    var bytes: [UInt8] = []
    for line in lines.split(separator: .lineFeed, omittingEmptySubsequences: false).dropLast() {
      bytes += prefix
      bytes += line
      bytes.append(.lineFeed)
    }
    // Standard output has only JSON, if it has any.
    let output = style == .json ? FileDescriptor.standardError : .standardOutput
    Self.turn.withLock { _ in try? output.write(bytes, brokenPipe: .error) }
  }

  // A reader that has gone does not stop the flow.
  private func write(_ line: String) {
    Self.turn.withLock { _ in try? StandardOutput().write(Array("\(line)\n".utf8)) }
  }
}
