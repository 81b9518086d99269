import CommandLineOperations
import CompositeOperations
import SystemSupport

/// Prints what happens in a run: a line for each step that ends, or JSON events.
final class FlowReporter: Sendable {
  enum Style: Sendable {
    /// A line for each step that has ended.
    case lines
    /// A line with a JSON object for each event.
    case json
    /// Nothing; a terminal shows the progress.
    case silent
  }

  let flow: String
  let run: Int
  /// When the run began, in milliseconds since 1970.
  let runBegan: Int64
  private let style: Style
  private let endedSteps = Lock(0)
  private let progress = Promise<@Sendable (Int) -> Void>()

  init(flow: String, run: Int, runBegan: Int64, style: Style) {
    self.flow = flow
    self.run = run
    self.runBegan = runBegan
    self.style = style
  }

  /// Sets what receives the number of steps that have ended.
  func setProgress(_ report: @escaping @Sendable (Int) -> Void) { progress.set(report) }

  func runBegan(isResumed: Bool, stepCount: Int) {
    event("run-began") { json in
      json.name("resumed")
      json.literal(isResumed ? "true" : "false")
      json.member("steps", stepCount)
    }
  }

  func began(_ unit: FlowUnit) {
    event("step-began") { json in json.member("step", unit.name) }
  }

  /// Reports the end of a step or a child.
  func ended(_ end: FlowEnd) {
    if !end.isChild { stepEnded() }
    switch style {
    case .silent: return
    case .lines: write(end.line)
    case .json:
      event("step-ended") { json in
        json.member("step", end.unit)
        json.member("state", end.state.rawValue)
        if let reason = end.reason { json.member("reason", reason) }
        if let duration = end.duration {
          json.name("seconds")
          json.number(duration / .seconds(1))
          json.member("attempts", end.attempts)
        }
      }
    }
  }

  func runEnded(_ state: String, _ counts: [FlowEnd.State: Int]) {
    event("run-ended") { json in
      json.member("state", state)
      for state in FlowEnd.State.allCases {
        json.member(state.rawValue, counts[state] ?? 0)
      }
    }
  }

  private func stepEnded() {
    let count = endedSteps.withLock { count in
      count += 1
      return count
    }
    progress.current?(count)
  }

  private func event(_ name: String, _ body: (inout JSONWriter) -> Void) {
    guard style == .json else { return }
    var json = JSONWriter()
    json.object { json in
      json.member("event", name)
      json.member("time", "\(CivilTime(EventTime.wallClockNow))")
      json.member("flow", flow)
      json.member("run", run)
      body(&json)
    }
    write(json.text)
  }

  // A reader that has gone does not stop the flow. A line is one write, so that lines of several
  // tasks do not mix.
  private func write(_ line: String) { try? StandardOutput().write(Array("\(line)\n".utf8)) }
}
