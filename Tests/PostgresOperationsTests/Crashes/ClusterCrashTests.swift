internal import CompositeOperations
internal import DurableOperations
internal import Foundation
internal import PostgresOperations
internal import TestSupport
internal import Testing

/// Kills and stops workers, and restarts their server.
@Suite(.serialized, .enabled(if: PrivateServer.whatIsMissing == nil))
struct ClusterCrashTests {
  /// What happens to the cluster.
  private enum Fault: String, CaseIterable {
    case kill, stop, restart
  }

  private struct Settings {
    var (runs, children, workers, width) = (120, 60, 3, 2)

    init() {
      switch ProcessInfo.processInfo.environment["COMPOSITE_CLUSTER_RUNS"].flatMap({ Int($0) }) {
      case let count?: (runs, children, workers, width) = (count, count / 10, 4, 16)
      case nil: break
      }
    }
  }

  @Test(.timeLimit(.minutes(60)))
  func
    `K1: workers that are killed and stopped, on a server that crashes, lose and repeat nothing`()
    async throws
  {
    let seed = UInt64.random(in: 0 ... .max)
    let chosen = ProcessInfo.processInfo.environment["COMPOSITE_CRASH_SEED"].flatMap { UInt64($0) }
    var random = OperationRandomness.seeded(chosen ?? seed)
    print("cluster: COMPOSITE_CRASH_SEED=\(chosen ?? seed)")
    let settings = Settings()
    let server = PrivateServer()
    let address = try await server.freshDatabase()
    try await server.query("select absurd.create_queue('default')", at: address)
    let folder = try ClusterFolder(address, lease: 2_000)
    let started = try folder.start("start", "\(settings.runs)", "\(settings.children)")
    #expect(await started.end() == 0)
    let store = RunStore.postgres(address)

    var launch = 0
    func work() throws -> RunningProgram {
      launch += 1
      return try folder.start("work", "\(launch)", "\(settings.width)")
    }
    var workers = try (0..<settings.workers).map { _ in try work() }
    var faults: [String: Int] = [:]
    var next: [Fault] = []
    // When stopped workers go on: perhaps after their leases, so that others have taken their runs.
    var stopped: [Int: ContinuousClock.Instant] = [:]
    // Also interrupted ones: after two kills, the last runs may all be without a process.
    let unfinished = Set(RunState.allCases.filter { !$0.hasEnded })
    while try await !store.runs(in: unfinished, limit: 1).isEmpty {
      try await Task.sleep(for: .milliseconds(Int64.random(in: 50...400, using: &random)))
      for (index, time) in stopped where time <= .now {
        kill(workers[index].processIdentifier, SIGCONT)
        stopped[index] = nil
      }
      let index = Int.random(in: 0..<settings.workers, using: &random)
      if next.isEmpty { next = Fault.allCases.shuffled(using: &random) }
      let fault = next.removeLast()
      faults[fault.rawValue, default: 0] += 1
      switch fault {
      case .kill:
        kill(workers[index].processIdentifier, SIGKILL)
        #expect(await workers[index].end() == SIGKILL)
        stopped[index] = nil
        workers[index] = try work()
      case .stop:
        kill(workers[index].processIdentifier, SIGSTOP)
        stopped[index] = .now + .milliseconds(Int64.random(in: 200...4_000, using: &random))
      case .restart: try await server.restart(.immediate)
      }
      // Some runs are claimed ten times by workers that are killed at once.
      for run in (try? await store.runs(in: [.stuck])) ?? [] { try? await store.retry(run.id) }
    }
    for worker in workers {
      kill(worker.processIdentifier, SIGKILL)
      _ = await worker.end()
    }
    print("cluster: \(launch) processes, faults \(faults)")

    let runs = try await store.runs(limit: .max)
    #expect(runs.count == settings.runs + settings.children + 1)
    var finished: [String: [Int: Int]] = [:]
    for run in runs {
      let details = try #require(try await store.run(run.id))
      let expected = run.id == "fan-out" ? "\(10 * settings.children)" : "10"
      #expect(run.state == .result && details.outcome == expected, "\(run)")
      for step in details.steps { finished[run.id.text, default: [:]][step.position] = step.fence }
    }
    #expect(problems(folder.lines, finished) == [])
    // Each run has exactly one outcome.
    let completed = try await server.query(
      "select count(*) from absurd.r_default where state = 'completed'", at: address)
    #expect(completed == "\(runs.count)")
    await store.close()
  }

  /// - Parameter finished: The fence of each finished step that is kept, by run and position.
  private func problems(_ lines: [[String]], _ finished: [String: [Int: Int]]) -> [String] {
    var problems: [String] = []
    var done: Set<String> = []
    // The highest fence under which a step has begun so far, also of steps that are not kept.
    var highest: [String: Int] = [:]
    for line in lines {
      if line[0] == "done" { done.insert(line[1]) }
      guard line[0] == "begun", let fence = Int(line[2]) else { continue }
      let key = line[3]
      let step = String(key.prefix { $0 != "." } + ".")
      let parts = step.dropLast().split(separator: "/")
      guard let run = parts.first, let position = parts.last.flatMap({ Int($0) }) else { continue }
      let last = finished[String(run)]?[position]
      // A process that was stopped in a step may continue with it, under an older fence.
      if done.contains(step), fence >= last ?? highest[step] ?? 0 {
        problems.append("\(key) begins in process \(line[1]) with fence \(fence) after its end")
      }
      if let last, fence > last {
        problems.append("\(key) began with fence \(fence), after it had ended with \(last)")
      }
      highest[step] = max(highest[step] ?? 0, fence)
    }
    return problems
  }
}
