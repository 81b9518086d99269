import CompositeOperations
import SystemSupport

/// The result of a run: the ends of all steps, and the lines for people.
struct FlowResult: Sendable {
  /// The ends of the steps and the failed children, also of steps that did not begin.
  private(set) var ends: [FlowEnd] = []
  private(set) var state = FlowRunState.failed
  /// The error that has ended the run, if it was no failure of a step.
  private(set) var error: (any Error)?
  private(set) var counts: [FlowEnd.State: Int] = [:]
  /// The messages of the failed steps, and of an error that has ended the run.
  private(set) var failures: [String] = []
  /// The other messages: what a cancelled run means, and a summary.
  private(set) var lines: [String] = []
  /// Why the run has failed, in a few words.
  private(set) var reason: String?

  /// A run that an error has ended.
  init() {}

  /// A run in which no step runs.
  init(upToDate ends: [FlowEnd]) {
    state = .succeeded
    self.ends = ends
    counts = [.upToDate: ends.count]
  }

  /// - Parameter wasCancelled: Whether the task of the run was cancelled.
  init(
    _ session: FlowSession, _ result: Result<Void, any Error>, wasCancelled: Bool,
    after duration: Duration
  ) {
    let all = session.stepEnds
    var failed: [FlowEnd] = []
    for step in session.file.steps {
      let end = all[ExactText(step.name)] ?? Self.unbegun(step.name, session.plan)
      guard let end else { continue }
      ends.append(end)
      counts[end.state, default: 0] += 1
      if end.state == .failed { failed.append(end) }
    }
    let children = all.values.filter { $0.isChild && $0.state == .failed }
      .sorted { ExactText($0.unit) < ExactText($1.unit) }
    ends += children
    // A step with children fails because of them.
    let messages = children + failed
    failures = messages.map(\.message)
    let summary =
      "'\(session.file.name)': " + Self.summary(counts) + " (\(duration.readableTime))"
    switch result {
    case .success where failed.isEmpty:
      state = .succeeded
    case .failure(is FlowCancelledError):
      state = .cancelled
      lines.append("cancelled by another program; the same command begins a new run")
    case .failure(let error) where wasCancelled || error.meansCancellation:
      state = .interrupted
      lines.append("interrupted; the same command resumes run \(session.checker.run)")
    case .failure(let error) where failed.isEmpty:
      state = .failed
      reason = "\(error)"
      self.error = error
      failures.append("\(error)")
    case .success, .failure:
      state = .failed
      reason = "\(failed.count.counted("step")) failed"
    }
    lines.append(summary)
  }

  /// The end of a step that did not begin; nil if an option excludes it.
  private static func unbegun(_ step: String, _ plan: FlowPlan) -> FlowEnd? {
    switch plan.decisions[step] {
    case .done: FlowEnd(unit: step, state: .done)
    case .upToDate: FlowEnd(unit: step, state: .upToDate)
    case .runs, .mayRun:
      FlowEnd(unit: step, state: .skipped, reason: "a step that it needs has not succeeded")
    case .excluded, nil: nil
    }
  }

  /// The numbers of steps by state: `4 succeeded, 1 failed`.
  private static func summary(_ counts: [FlowEnd.State: Int]) -> String {
    FlowEnd.State.allCases.compactMap { state in
      counts[state].map { "\($0.grouped) \(state.rawValue)" }
    }.joined(separator: ", ")
  }
}
