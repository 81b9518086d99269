import CompositeOperations
import SystemSupport

/// The result of a run: the ends of all steps, and the lines for people.
struct FlowResult {
  /// The ends of the steps and the failed children, also of steps that did not begin.
  private(set) var ends: [FlowEnd] = []
  private(set) var state = FlowRunState.failed
  /// The error that has ended the run, if it was no failure of a step.
  private(set) var error: (any Error)?
  private(set) var counts: [FlowEnd.State: Int] = [:]
  /// The messages of the failed steps, and a summary.
  private(set) var lines: [String] = []

  /// A run that an error has ended.
  init() {}

  /// A run in which no step runs.
  init(upToDate count: Int) {
    state = .succeeded
    counts = [.upToDate: count]
  }

  init(_ session: FlowSession, _ run: FlowPerformance) {
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
    lines = messages.map(\.message)
    let summary =
      "'\(session.file.name)': " + Self.summary(counts) + " (\(run.duration.readableTime))"
    switch run.outcome {
    case _ where run.wasInterrupted:
      state = .interrupted
      lines.append("interrupted; the same command resumes run \(session.checker.run)")
    case .result where failed.isEmpty:
      state = .succeeded
    case .error(let error) where failed.isEmpty:
      state = .failed
      let cause = (error as? SequentialOperationError)?.cause ?? error
      self.error = cause
      lines.append("\(cause)")
    case .cancelled:
      state = .cancelled
      lines.append("cancelled in the journal; the same command begins a new run")
    case .result, .error:
      state = .failed
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
