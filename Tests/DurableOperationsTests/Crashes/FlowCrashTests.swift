import CompositeOperations
import DurableOperations
import DurableTestSupport
import Foundation
import Synchronization
import TestSupport
import Testing

/// Kills a process that runs a flow with every kind of step, and checks that the next one continues.
@Suite(.serialized) struct FlowCrashTests {
  /// Runs processes on one journal until one of them is not killed, and checks what they leave.
  ///
  /// - Parameter details: The further arguments of a process, and the time after which to kill it
  ///   from outside, by its number.
  /// - Returns: The number of processes that were killed.
  private func crash(
    _ undisturbed: UndisturbedFlow, _ details: (Int) -> (arguments: [String], delay: Duration?)
  ) async throws -> Int {
    let folder = try CrashFolder()
    var check = EffectCheck(undisturbed: undisturbed.effects)
    var launch = 0
    while true {
      let (arguments, delay) = details(launch)
      let path = "\(folder.path)/output"
      try Data().write(to: URL(fileURLWithPath: path))
      let output = try #require(FileHandle(forWritingAtPath: path))
      let process = try folder.start("flow", launch: launch, arguments, output: output)
      if let delay {
        try await Task.sleep(for: delay)
        kill(process.processIdentifier, SIGKILL)
      }
      let status = await process.end()
      try output.close()
      let text = try String(contentsOfFile: path, encoding: .utf8)
      try #require(status == 0 || status == SIGKILL, "status \(status): \(text)")
      let store = RunStore.sqlite(folder.journal)
      if status == 0 {
        #expect(text.hasPrefix(undisturbed.outcome + "\n"))
        #expect(check.problems(try folder.effects) == [])
        #expect(try await store.check() == [])
        #expect(try await store.runs().allSatisfy { $0.state.hasEnded })
        return launch
      }
      if FileManager.default.fileExists(atPath: folder.journal) {
        check.processEnded(try await store.allRuns, effects: try folder.effects)
        // A step that ten processes in a row did not live to finish.
        for run in try await store.runs(in: [.stuck]) { try await store.retry(run.id) }
      }
      launch += 1
    }
  }

  @Test(.timeLimit(.minutes(10)))
  func `J2: a process killed before or after any commit is continued by the next one`()
    async throws
  {
    let undisturbed = try await UndisturbedFlow()
    #expect(undisturbed.commits >= 50)
    // The numbers of commits differ a little: writes of parallel children may share one, and a sleep
    // that is almost over does not park the run.
    let margin = 8
    let points = (1...undisturbed.commits + margin).flatMap { [("before", $0), ("after", $0)] }
    let kills = points.map { moment, commit in
      SimpleOperation {
        let killed = try await crash(undisturbed) { launch in
          (launch == 0 ? [moment, "\(commit)"] : [], nil)
        }
        #expect(killed == 1 || commit > undisturbed.commits - margin, "\(moment) \(commit)")
      }
    }
    _ = try await ParallelOperation(kills, width: .limited(to: 4)).run().get()
  }

  @Test(.timeLimit(.minutes(60)))
  func `J2: processes killed at random moments are continued by the next ones`() async throws {
    let undisturbed = try await UndisturbedFlow()
    let seed = CrashSettings.firstSeed()
    let count = CrashSettings.count(debug: 24, release: 48)
    print("random kills: COMPOSITE_CRASH_SEED=\(seed)")
    let kills = Atomic(0)
    let chains = (0..<UInt64(4)).map { chain in
      SimpleOperation {
        var random = OperationRandomness.seeded(seed &+ chain)
        let longest = undisturbed.duration / .microseconds(1) * 1.5
        while kills.load(ordering: .relaxed) < count {
          _ = try await crash(undisturbed) { _ in
            guard kills.add(1, ordering: .relaxed).oldValue < count else { return ([], nil) }
            return ([], .microseconds(Int64.random(in: 0...Int64(longest), using: &random)))
          }
        }
      }
    }
    _ = try await ParallelOperation(chains, width: .limited(to: 4)).run().get()
    #expect(kills.load(ordering: .relaxed) >= count)
  }
}
