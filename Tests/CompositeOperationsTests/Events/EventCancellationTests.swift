import CompositeOperations
import CompositeOperationsTestKit
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct EventCancellationTests {
  @Test(arguments: EventScene.all)
  func `O6: every active run reports a cancellation once, with the reason`(scene: EventScene)
    async throws
  {
    for seed in 0..<4 as Range<UInt64> {
      let setting = Setting(suspends: seed % 3 != 0, workers: .one(seed: seed))
      let jobs = await Cancelled(scene, setting, seed: seed, after: nil).jobs
      for job in 0..<jobs {
        let run = await Cancelled(scene, setting, seed: seed, after: job)
        try #require(run.findings == [], "seed \(seed), cancelled after job \(job)")
      }
    }
  }

  @Test(arguments: EventScene.all)
  func `O6: events are consistent if a run is cancelled at any time on all workers`(
    scene: EventScene
  )
    async throws
  {
    for round in 0..<60 {
      let setting = Setting(suspends: round % 3 != 0, workers: .all)
      let recorder = RecordingObserver()
      let environment = OperationEnvironment(observers: [recorder])
      let run = scene.operation(setting).start(in: environment)
      for _ in 0..<(round / 3) { await Task.yield() }
      run.cancel(because: "enough")
      let outcome = await run.outcome
      let events = recorder.events
      try #require(events.findings(order: .partial) == [], "round \(round)")
      try #require(events.reasons.isSubset(of: [nil, "enough"]), "round \(round)")
      let wasAsked = events.contains { $0.id == run.id && $0.isCancellationRequest }
      try #require(!wasAsked || outcome.isCancelled, "round \(round)")
    }
  }

  @Test func `O6: the end of a child is reported after its cancellation has been reported`() async {
    for round in 0..<20 {
      let observer = SlowObserver(named: "child")
      // Computes, because the runtime does not resume a task while its cancellation handlers run.
      let child = SimpleOperation { observer.waitUntilAsked() }.named("child")
      let run = ParallelOperation([child, child], width: .serial).start(
        in: OperationEnvironment(observers: [observer]))
      // On a separate thread, because the child occupies a thread of the pool.
      Thread.detachNewThread {
        observer.waitUntilBodyBegan()
        run.cancel()
      }
      #expect(await run.outcome.isCancelled)
      #expect(
        observer.log.entries == ["created", "started", "asked", "asked so far", "ended"],
        "round \(round)")
    }
  }
}

/// Does not return from the notification of a cancellation until the cancelled body has returned.
private final class SlowObserver: OperationObserver {
  let log = Log<String>()
  private let hasBegun = Flag()
  private let hasReturned = Flag()
  private let name: String

  init(named name: String) { self.name = name }

  func waitUntilBodyBegan() { while !hasBegun.isSet {} }

  /// The body of the child.
  func waitUntilAsked() {
    hasBegun.set()
    while !log.entries.contains("asked") {}
    hasReturned.set()
  }

  func observe(_ event: OperationEvent) {
    guard event.name == name else { return }
    switch event.kind {
    case .cancellationRequested:
      log.add("asked")
      while !hasReturned.isSet {}
      for _ in 0..<1_000 { _ = log.entries }
      log.add("asked so far")
    case .ended: log.add("ended")
    case .created: log.add("created")
    case .started: log.add("started")
    case .childStarted, .waitingBegan, .waitingEnded, .retryScheduled, .progressed,
      .childrenExpected, .attributesSet, .logged, .finishedAgain, .abandonedBodyEnded:
      log.add("something else")
    }
  }
}

/// A scenario that ran on one worker and was cancelled after a job.
private struct Cancelled {
  let jobs: Int
  /// The violated invariants.
  private(set) var findings: [String]

  /// - Parameter job: The number of the job after which the run is cancelled: 0 is before the first
  ///   job, nil is never.
  init(_ scene: EventScene, _ setting: Setting, seed: UInt64, after job: Int?) async {
    let recorder = RecordingObserver()
    let executor = SeededExecutor(seed: seed)
    let environment = OperationEnvironment(observers: [recorder], executor: executor)
    let run = scene.operation(setting).start(in: environment)
    var before: [OperationEvent] = []
    func cancel() {
      before = recorder.events
      run.cancel(because: "enough")
    }
    if job == 0 { cancel() }
    jobs = executor.drain { if $0 == job { cancel() } }
    let events = recorder.events
    findings = events.findings(order: .total)
    if job == nil || before.contains(where: { $0.isEnd && $0.id == run.id }) {
      expect(events.reasons.isSubset(of: [nil]), "an event has a reason, and there was none")
      return
    }
    let asked = events.filter(\.isCancellationRequest)
    let askedBefore = before.filter(\.isCancellationRequest)
    expect(
      Set(asked.map(\.id)).isSuperset(of: before.living),
      "an active run did not report the cancellation")
    expect(askedBefore.reasons.isSubset(of: [nil]), "an event has a reason before the cancellation")
    let askedNow = events.dropFirst(before.count).filter(\.isCancellationRequest)
    expect(askedNow.reasons.isSubset(of: ["enough"]), "an event has a wrong reason")
    expect(asked.contains { $0.id == run.id }, "the run itself did not report the cancellation")
    let begunLater = events.dropFirst(before.count).filter(\.isStart)
    expect(begunLater.isEmpty, "\(begunLater) began after the cancellation")
    if case .ended(let outcome, _) = events.last?.kind, events.last?.id == run.id {
      expect(outcome.isCancelled, "the run ended as \(outcome.kind)")
    } else {
      findings.append("the run's end is not the last event")
    }
  }

  private mutating func expect(_ isRight: Bool, _ law: @autoclosure () -> String) {
    if !isRight { findings.append(law()) }
  }
}

extension [OperationEvent] {
  /// The reasons of all reported cancellations; nil for a cancellation without a reason.
  fileprivate var reasons: Set<String?> {
    Set(
      compactMap { event in
        if case .cancellationRequested(let reason) = event.kind { .some(reason) } else { nil }
      })
  }
}
