import CompositeOperations
import CompositeOperationsTestKit

/// One run of a flow on a stage, from beginning to end.
struct Play: Sendable {
  let flow: Flow
  let seed: UInt64
  /// After which job somebody cancelled it; 0 is before the first, nil is never.
  let cancellation: Int?
  let outcome: Flow.Outcome?
  let stage: Stage
  /// The job before which nobody can have decided how it ends.
  let firstPossibleEnd: Int
  /// The job after which it has been decided how it ends.
  let lastPossibleEnd: Int
  /// What is wrong with it.
  private(set) var findings: [String] = []

  /// What somebody sees who waits for the outcome.
  private struct Sight: Sendable {
    let outcome: Flow.Outcome
    let job: Int
    let inFlight: Int
  }

  init(_ flow: Flow, seed: UInt64, cancelledAfter cancellation: Int? = nil) {
    self.flow = flow
    self.seed = seed
    self.cancellation = cancellation
    let stage = Stage(seed: seed)
    self.stage = stage
    let watcher = EndWatcher(stage: stage)
    let recorder = RecordingObserver()
    // Three ways through the engine: where nobody looks, with a clock of its own, and observed.
    var environment = OperationEnvironment(executor: stage.executor)
    let isObserved = seed % 3 == 0
    if isObserved { environment.observers = [watcher, recorder] }
    if seed % 3 == 1 { environment.clock = stage.clock }
    let sights = Log<Sight>()
    let run = flow.start(stage, environment)
    Task(executorPreference: stage.executor) {
      let outcome = await run.outcome()
      sights.add(Sight(outcome: outcome, job: stage.jobs + 1, inFlight: stage.inFlight))
    }
    stage.playToTheEnd { if $0 == cancellation { run.cancel() } }
    outcome = sights.entries.first?.outcome
    let seen = sights.entries.first?.job ?? .max
    let end = watcher.job
    firstPossibleEnd = end ?? stage.lines.last { $0.job < seen }?.job ?? 1
    lastPossibleEnd = end ?? seen - 1
    judge(inFlight: sights.entries.first?.inFlight ?? 0)
    if isObserved { findings += recorder.events.findings(order: .total) }
  }

  private mutating func judge(inFlight: Int) {
    guard let outcome else {
      findings.append("it is stuck")
      return
    }
    if inFlight != 0 { findings.append("\(inFlight) in flight when the outcome is there") }
    if stage.clock.sleeperCount != 0 { findings.append("somebody sleeps on") }
    for (crew, limit) in flow.limits where stage.most(of: crew) > limit {
      findings.append("\(stage.most(of: crew)) of \(crew) in flight, and not \(limit)")
    }
    findings += handleFindings(outcome)
    if let cancellation, outcome.isCancelled {
      let late = stage.lines.filter { $0.job > cancellation && $0.text.hasSuffix(" begins") }
      if !late.isEmpty { findings.append("\(late) although it was cancelled") }
    }
    let isAsPlanned = cancellation == nil || !outcome.isCancelled
    if isAsPlanned, let complaint = flow.complaint(outcome, stage) { findings.append(complaint) }
  }

  /// Every handle is discarded, or received, or taken over by the flow itself: one of these, once.
  private func handleFindings(_ outcome: Flow.Outcome) -> [String] {
    let ends = stage.discarded + stage.takenOver + outcome.handles
    let counts = Dictionary(ends.map { ($0, 1) }, uniquingKeysWith: +)
    return stage.opened.compactMap { handle in
      let count = counts[handle, default: 0]
      return count == 1 ? nil : "\(handle) came to \(count) ends"
    }
  }
}

/// Notes the job in which the outermost run ends.
private final class EndWatcher: OperationObserver {
  private let stage: Stage
  private let jobs = Log<Int>()

  init(stage: Stage) { self.stage = stage }

  var job: Int? { jobs.entries.first }

  func observe(_ event: OperationEvent) {
    if event.isEnd, event.parent == nil { jobs.add(stage.jobs + 1) }
  }
}

extension Stage {
  /// Runs everything, and moves the clock on whenever all that is left to do is to wait.
  fileprivate func playToTheEnd(afterJob: (Int) -> Void) {
    afterJob(0)
    while true {
      executor.drain { _ in
        jobEnded()
        afterJob(jobs)
      }
      guard let deadline = clock.nextDeadline else { return }
      clock.advance(to: deadline)
    }
  }
}

extension Play: CustomStringConvertible {
  var description: String {
    """
    \(findings.joined(separator: "\n"))
    flow: \(flow.name), seed \(seed), cancelled after job \(cancellation.map { "\($0)" } ?? "-")
    \(stage.lines.map { "\($0)" }.joined(separator: "\n"))
    outcome: \(outcome?.kind ?? "none")
    """
  }
}
