import CompositeOperations
import CompositeOperationsTestKit

/// One complete run of a flow in a fixture.
struct Play: Sendable {
  let flow: Flow
  let seed: UInt64
  /// The job after which the run is cancelled: 0 is before the first job, nil is never.
  let cancellation: Int?
  let outcome: Flow.Outcome?
  let stage: Stage
  /// The first job in which the outcome can have been decided.
  let firstPossibleEnd: Int
  /// The job after which the outcome has been decided.
  let lastPossibleEnd: Int
  /// The violated rules.
  private(set) var findings: [String] = []

  /// The state when a waiter receives the outcome.
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
    // Three paths through the engine: unobserved, with a custom clock, and observed.
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
      findings.append("the run does not end")
      return
    }
    if inFlight != 0 { findings.append("\(inFlight) in flight when the outcome is available") }
    if stage.clock.sleeperCount != 0 { findings.append("a sleeper is left") }
    for (crew, limit) in flow.limits where stage.most(of: crew) > limit {
      findings.append("\(stage.most(of: crew)) of \(crew) in flight, more than \(limit)")
    }
    findings += handleFindings(outcome)
    if let cancellation, outcome.isCancelled {
      let late = stage.lines.filter { $0.job > cancellation && $0.text.hasSuffix(" begins") }
      if !late.isEmpty { findings.append("\(late) after the cancellation") }
    }
    let isAsPlanned = cancellation == nil || !outcome.isCancelled
    if isAsPlanned, let complaint = flow.complaint(outcome, stage) { findings.append(complaint) }
  }

  /// Returns the handles that were not exactly once discarded, received or taken over by the flow.
  private func handleFindings(_ outcome: Flow.Outcome) -> [String] {
    // A sequence owns what its history shows to the caller.
    let ends = stage.discarded + Set(stage.takenOver + outcome.handles)
    let counts = Dictionary(ends.map { ($0, 1) }, uniquingKeysWith: +)
    return stage.opened.compactMap { handle in
      let count = counts[handle, default: 0]
      return count == 1 ? nil : "\(handle) was discarded, received or taken over \(count) times"
    }
  }
}

/// Records the job in which the outermost run ends.
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
  /// Runs all jobs, and advances the clock to the next deadline when no job is ready.
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
