import CompositeOperations
import DurableOperations
import DurableTestSupport
import Foundation
import Synchronization
import TestSupport
import Testing

/// Kills and restarts worker processes that share one journal.
@Suite(.serialized) struct WorkerCrashTests {
  @Test(.timeLimit(.minutes(30)))
  func `J10: killed workers with different paths and users finish each run, and no step twice`()
    async throws
  {
    let (runCount, killerCount) = CrashSettings.crashes == nil ? (40, 4) : (200, 8)
    let folder = try CrashFolder()
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/link.sqlite", withDestinationPath: "flows.sqlite")
    let clock = ContinuousClock()
    let began = clock.now
    let started = try await folder.run("start", launch: 0, "\(runCount)")
    try #require(started.status == 0, "\(started.output)")
    let otherUser = try await otherUser(of: folder)
    // As long as a process needs to begin, on this machine at this time.
    let unit = Int64((clock.now - began) / .microseconds(1))
    let seed = CrashSettings.firstSeed()
    print("worker kills: COMPOSITE_CRASH_SEED=\(seed)")
    let store = RunStore.sqlite(folder.journal)
    let launches = Atomic(0)
    let killers = (0..<UInt64(killerCount)).map { killer in
      SimpleOperation {
        var random = OperationRandomness.seeded(seed &+ killer)
        repeat {
          let launch = launches.add(1, ordering: .relaxed).newValue
          // By different paths, one of which another working folder would make another file.
          let process = try folder.start(
            "work", launch: launch, launch % 3 == 0 ? ["/"] : [],
            journal: [nil, "link.sqlite", "flows.sqlite"][launch % 3],
            user: launch % 2 == 0 ? otherUser : nil)
          try await Task.sleep(for: .microseconds(Int64.random(in: 0...unit * 2, using: &random)))
          kill(process.processIdentifier, SIGKILL)
          try #require(await process.end() == SIGKILL)
        } while try await !store.runs(in: [.ready, .running, .interrupted, .parked], limit: 1)
          .isEmpty
      }
    }
    _ = try await ParallelOperation(killers, width: .limited(to: killerCount)).run().get()
    print("worker kills: \(launches.load(ordering: .relaxed))")

    #expect(try await store.check() == [])
    let runs = try await store.allRuns
    #expect(runs.count == runCount)
    let users = Set(try folder.effects.map { $0.launch % 2 })
    #expect(users.count == 2 || otherUser == nil)
    let effects = Dictionary(grouping: try folder.effects) { $0.key.prefix { $0 != "/" } }
    for run in runs {
      #expect(run.summary.state == .result && run.outcome == "10", "\(run.summary)")
      let id = run.summary.id.text
      #expect(problems(of: run, effects[id[...], default: []]) == [], "\(id)")
    }
  }

  /// Shares the folder with a user without rights, if this process is root and can start programs as that user.
  private func otherUser(of folder: CrashFolder) async throws -> Int? {
    guard geteuid() == 0 else { return nil }
    try folder.share()
    let user = 65_534
    let status = try await folder.start("start", launch: 0, ["0"], user: user).end()
    if status != 0 { print("all processes have one user: another one ends with status \(status)") }
    return status == 0 ? user : nil
  }

  /// - Parameter effects: The effects of the run, in the order in which they were made.
  private func problems(of run: RunDetails, _ effects: [EffectLine]) -> [String] {
    var problems: [String] = []
    func require(_ isFulfilled: Bool, _ problem: @autoclosure () -> String) {
      if !isFulfilled { problems.append(problem()) }
    }
    for (line, next) in zip(effects, effects.dropFirst()) {
      require(line.fence <= next.fence, "\(next) follows \(line), of a later claim")
      require(line.position <= next.position, "\(next) follows \(line), of a later step")
    }
    for (fence, lines) in Dictionary(grouping: effects, by: \.fence) {
      require(Set(lines.map(\.launch)).count == 1, "claim \(fence) belongs to two processes")
      require(Set(lines.map(\.key)).count == lines.count, "claim \(fence) repeats work: \(lines)")
    }
    require(run.steps.map(\.position) == [0, 1, 2, 3], "\(run.steps)")
    for step in run.steps where step.position != 2 {
      let lines = effects.filter { $0.position == step.position }
      require(
        lines.last.map { $0.fence <= step.fence } == true, "\(step.position) ran after its end")
      if step.position != 1 {
        require(lines.last?.fence == step.fence, "\(step.position) ran after its end")
      }
    }
    return problems
  }
}

extension EffectLine {
  /// The number of the step.
  fileprivate var position: Int {
    let part = key.drop { $0 != "/" }.dropFirst().prefix { $0 != "." }
    return Int(part) ?? -1
  }
}
