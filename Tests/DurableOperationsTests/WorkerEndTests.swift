import CompositeOperations
import DurableOperations
import DurableTestSupport
import Foundation
import TestSupport
import Testing

/// Workers that are asked to end by a signal.
@Suite(.timeLimit(.minutes(10))) struct WorkerEndTests {
  private struct SlowFlow: DurableSequence {
    mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? { nil }
    func output(of steps: FinishedSteps) -> Int { 0 }
  }

  private struct LongFlow: DurableSequence {
    mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? { nil }
  }

  private struct EndlessFlow: DurableSequence {
    mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? { nil }
  }

  /// Waits until bodies have begun a number of times.
  private func waitForEffects(_ count: Int, in folder: CrashFolder) async throws {
    while try folder.effects.count < count { try await Task.sleep(for: .milliseconds(1)) }
  }

  private func hasPendingSignal(_ process: Int32) -> Bool {
    let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
    return status.split(separator: "\n").contains { line in
      line.hasPrefix("ShdPnd:") && !line.allSatisfy { "ShdPnd:0\t ".contains($0) }
    }
  }

  /// Runs a worker, sends it a signal, or two, when bodies have begun, and returns its output.
  private func output(
    _ folder: CrashFolder, launch: Int = 1, draining limit: Int, afterEffects count: Int,
    isSentTwice: Bool = false
  ) async throws -> String {
    let path = "\(folder.path)/output"
    try Data().write(to: URL(fileURLWithPath: path))
    let file = try #require(FileHandle(forWritingAtPath: path))
    let process = try folder.start("drain", launch: launch, ["\(limit)"], output: file)
    try await waitForEffects(count, in: folder)
    kill(process.processIdentifier, SIGTERM)
    if isSentTwice {
      // While the first one is pending, both would be one.
      while hasPendingSignal(process.processIdentifier) {
        try await Task.sleep(for: .milliseconds(1))
      }
      kill(process.processIdentifier, SIGTERM)
    }
    #expect(await process.end() == 0)
    return try String(contentsOfFile: path, encoding: .utf8)
  }

  @Test func `J11: after a signal, a worker lets steps end, and begins no others`() async throws {
    let folder = try CrashFolder()
    let store = RunStore.sqlite(folder.journal)
    try await store.start(LongFlow(), named: "long")
    try await store.start(SlowFlow(), named: "slow")
    let output = try await output(folder, draining: 3_600_000, afterEffects: 2)
    #expect(output == "result()\n")
    let runs = try await store.runs()
    #expect(runs.first { $0.id == "slow" }?.state == .result, "\(runs)")
    let long = try #require(runs.first { $0.id == "long" })
    // Each step that had begun has ended. How many these are depends on when the signal arrives.
    let steps = try folder.effects.count { $0.key.hasPrefix("long/") }
    #expect(
      long.state == .ready && (1..<100).contains(steps) && long.step == steps && long.attempt == 0,
      "\(steps): \(long)")
    #expect(try folder.effects.count == steps + 1)
  }

  @Test func `J11: steps that do not end in time are cancelled, and their runs released`()
    async throws
  {
    let folder = try CrashFolder()
    let store = RunStore.sqlite(folder.journal)
    try await store.start(EndlessFlow(), named: "r")
    // Restarts in order do not count.
    for launch in 1...15 {
      let output = try await output(folder, launch: launch, draining: 1, afterEffects: launch)
      #expect(output == "result()\n")
      let run = try #require(try await store.runs().first)
      #expect(run.state == .ready && run.attempt == 0, "\(run)")
    }
    #expect(try SQLiteFiles.integer(folder.journal, "SELECT interruptions FROM run") == 0)
  }

  @Test func `J11: a second signal cancels the steps at once`() async throws {
    let folder = try CrashFolder()
    let store = RunStore.sqlite(folder.journal)
    try await store.start(EndlessFlow(), named: "r")
    let output = try await output(folder, draining: 3_600_000, afterEffects: 1, isSentTwice: true)
    #expect(output == "result()\n")
    #expect(try await store.runs().map(\.state) == [.ready])
  }

  @Test func `J11: an idle worker ends at once after a signal`() async throws {
    let folder = try CrashFolder()
    let store = RunStore.sqlite(folder.journal)
    try await store.start(SlowFlow(), named: "r")
    let path = "\(folder.path)/output"
    try Data().write(to: URL(fileURLWithPath: path))
    let file = try #require(FileHandle(forWritingAtPath: path))
    let process = try folder.start("drain", launch: 1, ["3600000"], output: file)
    while try await store.runs().map(\.state) != [.result] {
      try await Task.sleep(for: .milliseconds(1))
    }
    kill(process.processIdentifier, SIGTERM)
    #expect(await process.end() == 0)
  }
}
