import CompositeOperations
import CompositeOperationsFoundation
import CompositeOperationsTestKit
import Foundation
import TestSupport
import Testing

@Suite struct ProcessEndingTests {
  /// A script that creates a file on SIGTERM.
  private static let touchScript = """
    trap 'touch "$1"; exit' TERM
    echo $$
    while :; do sleep 0.01; done
    """

  /// Records a program and its lines, and holds line number `count` until `arrived` is opened.
  private final class ProcessRecorder: Sendable {
    private let state = Lock<(lines: [String], process: RunningProcess?)>(([], nil))
    let arrived = Gate()
    let count: Int

    init(lines count: Int = 1) { self.count = count }

    var lines: [String] { state.withLock { $0.lines } }
    var process: RunningProcess? { state.withLock { $0.process } }
    var identifiers: [Int32] { lines.compactMap { Int32($0) } }

    func recording(_ operation: ProcessOperation) -> ProcessOperation {
      operation
        .onLaunch { process in self.state.withLock { $0.process = process } }
        .onOutputLine { line in
          let now = self.state.withLock { state in
            state.lines.append(line)
            return state.lines.count
          }
          if now == self.count { try? await self.arrived.pass() }
        }
    }

    /// Starts a run and waits for its first `count` lines.
    func start(_ operation: ProcessOperation) async -> OperationRun<ProcessResult> {
      let run = recording(operation).start()
      await arrived.waitForArrivals(1)
      arrived.open()
      return run
    }
  }

  @Test(.timeLimit(.minutes(10)))
  func `X1: cancelling ends the program and its children immediately`() async throws {
    let recorder = ProcessRecorder(lines: 3)
    // The shell waits for a foreground child, and would run a trap only after that child has ended.
    let run = await recorder.start(
      shell("sleep 3600 & echo $!; sleep 3600 & echo $!; echo $$; sleep 3600").ending(
        within: .seconds(3_600)))
    run.cancel()
    #expect(await run.outcome.isCancelled)
    #expect(recorder.identifiers.count == 3)
    for identifier in recorder.identifiers { #expect(!isAlive(identifier)) }
    #expect(recorder.process?.send(.terminate) == false)
  }

  @Test(
    .timeLimit(.minutes(10)),
    arguments: [
      // All processes ignore SIGTERM.
      """
      trap '' TERM
      sh -c 'echo $$; while :; do sleep 0.1; done' &
      echo $$; wait; wait; sleep 3600
      """,
      // A child outlives the program and has the rest of the grace period.
      """
      sh -c 'trap "" TERM; echo $$; exec sleep 3600' & echo $$; exec sleep 3600
      """,
    ])
  func `X1: a process that ignores SIGTERM is killed after the grace period`(script: String)
    async throws
  {
    let recorder = ProcessRecorder(lines: 2)
    let run = await recorder.start(shell(script).ending(within: .milliseconds(100)))
    let start = ContinuousClock.now
    run.cancel()
    #expect(await run.outcome.isCancelled)
    #expect(start.duration(to: .now) >= .milliseconds(100))
    // The program has ended. Processes that were killed with it may still be ending.
    try await eventually { !recorder.identifiers.contains(where: isAlive) }
  }

  @Test(.timeLimit(.minutes(10)))
  func `without a grace period, a program is killed immediately`() async throws {
    let folder = try TestFolder()
    let recorder = ProcessRecorder()
    let run = await recorder.start(
      shell(Self.touchScript, folder.path(of: "asked")).ending(within: .zero))
    run.cancel()
    #expect(await run.outcome.isCancelled)
    #expect(!FileManager.default.fileExists(atPath: folder.path(of: "asked")))
  }

  @Test(.timeLimit(.minutes(10)))
  func `a program and its children can clean up within the grace period`() async throws {
    let folder = try TestFolder()
    let recorder = ProcessRecorder(lines: 2)
    // The program ends immediately. Its child takes longer, and has closed its output.
    let script = """
      echo $$
      (
        trap 'sleep 0.2; touch "$1"; exit' TERM
        sh -c 'echo $PPID'; exec >&- 2>&-
        while :; do sleep 0.01; done
      ) &
      wait
      """
    let run = await recorder.start(
      shell(script, folder.path(of: "tidied")).ending(within: .seconds(3_600)))
    run.cancel()
    #expect(await run.outcome.isCancelled)
    #expect(FileManager.default.fileExists(atPath: folder.path(of: "tidied")))
    for identifier in recorder.identifiers { #expect(!isAlive(identifier)) }
  }

  @Test(.timeLimit(.minutes(10)))
  func `X1: a process that left the group and holds the pipes does not delay a cancelled run`()
    async throws
  {
    let recorder = ProcessRecorder(lines: 2)
    let run = await recorder.start(
      shell("setsid sh -c 'echo $$; exec sleep 3600' & echo $$; wait")
        .draining(for: .seconds(3_600)).ending(within: .seconds(3_600)))
    run.cancel()
    #expect(await run.outcome.isCancelled)
    let left = try #require(recorder.identifiers.first { isAlive($0) })
    kill(left, SIGKILL)
  }

  @Test(.timeLimit(.minutes(10)))
  func `X6: with draining, a process that holds the output is awaited for that time and marked`()
    async throws
  {
    let script = shell("echo $$; sleep 3600 & echo $!")
    let start = ContinuousClock.now
    let result = try await script.draining(for: .milliseconds(200)).run().get()
    #expect(start.duration(to: .now) >= .milliseconds(200))
    #expect(result.status == .exited(0))
    #expect(!result.output.isComplete && !result.errorOutput.isComplete)
    let left = try #require(result.output.lines.last.flatMap { Int32($0) })
    // A run that was not cancelled ends no other process.
    #expect(isAlive(left))
    kill(left, SIGKILL)
    let late = try await shell("(sleep 0.2; echo late) & echo soon").draining(for: .seconds(60))
      .run().get()
    #expect(late.output.lines == ["soon", "late"])
    #expect(late.output.isComplete)
  }

  @Test(.timeLimit(.minutes(10)))
  func `a remaining process ends when it writes to the closed output`() async throws {
    let folder = try TestFolder()
    // It writes more than once, because a process that another test starts has a copy of the other
    // end of the pipe until its program is loaded.
    let script = shell(
      """
      (until [ -e "$1" ]; do sleep 0.01; done; while echo late; do sleep 0.01; done; touch "$2") &
      echo $!
      """, folder.path(of: "go"), folder.path(of: "after"))
    let result = try await script.draining(for: .zero).run().get()
    let left = try #require(result.output.lines.last.flatMap { Int32($0) })
    #expect(isAlive(left))
    try folder.write("", to: "go")
    try await eventually { !isAlive(left) }
    #expect(!FileManager.default.fileExists(atPath: folder.path(of: "after")))
  }

  @Test(.timeLimit(.minutes(10)))
  func `output that was written before the end is read even without draining`() async throws {
    let script = shell("sleep 3600 2>&- & echo $! >&2; head -c 50000 /dev/zero")
    for _ in 0..<10 {
      let result = try await script.draining(for: .zero).run().get()
      #expect(result.output.bytes.count == 50_000)
      #expect(!result.output.isComplete)
      let left = try #require(result.errorOutput.lines.last.flatMap { Int32($0) })
      kill(left, SIGKILL)
    }
  }

  @Test(.timeLimit(.minutes(10)))
  func `cancelling during draining ends the process that holds the output`() async throws {
    let recorder = ProcessRecorder(lines: 1)
    let run = await recorder.start(shell("sleep 3600 & echo $!").draining(for: .seconds(3_600)))
    let left = try #require(recorder.identifiers.first)
    run.cancel()
    #expect(await run.outcome.isCancelled)
    #expect(!isAlive(left))
  }

  @Test(.timeLimit(.minutes(10)))
  func `a suspended program can clean up when it is cancelled`() async throws {
    let folder = try TestFolder()
    let recorder = ProcessRecorder()
    let run = await recorder.start(
      shell(Self.touchScript, folder.path(of: "asked")).ending(within: .seconds(3_600)))
    #expect(recorder.process?.suspend() == true)
    run.cancel()
    #expect(await run.outcome.isCancelled)
    #expect(FileManager.default.fileExists(atPath: folder.path(of: "asked")))
  }

  @Test(.timeLimit(.minutes(10)))
  func `a suspended program does not run until it is resumed`() async throws {
    let folder = try TestFolder()
    let recorder = ProcessRecorder()
    // The script starts no processes, because no signal stops a shell that waits for a start.
    let run = await recorder.start(
      shell(
        #"echo $$; until [ -e "$1" ]; do :; done; echo done"#, folder.path(of: "end")))
    let process = try #require(recorder.process)
    #expect(recorder.identifiers == [process.processIdentifier])
    #expect(process.suspend())
    try await eventually { state(of: process.processIdentifier) == "T" }
    try folder.write("", to: "end")
    #expect(state(of: process.processIdentifier) == "T")
    #expect(process.resume())
    #expect(try await run.outcome.get().output.lines.last == "done")
    #expect(!process.resume())
  }

  @Test(.timeLimit(.minutes(10)))
  func `a signal reaches the program or its whole group`() async throws {
    let script = """
      (
        trap 'echo child heard' USR1; echo child is ready
        until [ -e "$1" ]; do sleep 0.01; done
      ) &
      trap 'echo parent heard' USR1; echo parent is ready
      until [ -e "$1" ]; do sleep 0.01; done
      wait
      """
    for recipient in [RunningProcess.Recipient.program, .group] {
      let folder = try TestFolder()
      let file = folder.path(of: "end")
      let recorder = ProcessRecorder(lines: 2)
      let run = await recorder.start(shell(script, file))
      let process = try #require(recorder.process)
      #expect(process.send(.user1, to: recipient))
      #expect(!process.send(ProcessSignal(rawValue: 1_000)))
      try await eventually { recorder.lines.contains("parent heard") }
      if case .group = recipient { try await eventually { recorder.lines.contains("child heard") } }
      try folder.write("", to: "end")
      let result = try await run.outcome.get()
      #expect(result.output.lines.contains("child heard") == (recipient == .group))
    }
  }

  @Test(.timeLimit(.minutes(10)))
  func `a timeout ends the program`() async throws {
    let recorder = ProcessRecorder()
    let operation = recorder.recording(shell("echo $$; exec sleep 3600"))
    let clock = ManualClock()
    let run = operation.timingOut(after: .seconds(5)).start(in: OperationEnvironment(clock: clock))
    await recorder.arrived.waitForArrivals(1)
    recorder.arrived.open()
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(5))
    let outcome = await run.outcome
    #expect("\(outcome)".contains("5"), "\(outcome)")
    let identifier = try #require(recorder.identifiers.first)
    #expect(!isAlive(identifier))
  }

  @Test(.timeLimit(.minutes(10)))
  func `X1: cancelling at any time leaves no process`() async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededNumbers(seed: seed)
    for round in 0..<200 {
      let launched = Lock<Int32>(0)
      let run = shell("sleep 3600 & sleep 3600")
        .onLaunch { process in launched.withLock { $0 = process.processIdentifier } }.start()
      for _ in 0..<Int.random(in: 0...20, using: &random) { await Task.yield() }
      if Bool.random(using: &random) { try await eventually { launched.withLock { $0 } != 0 } }
      run.cancel()
      #expect(await run.outcome.isCancelled, "seed \(seed), round \(round)")
      let group = launched.withLock { $0 }
      if group == 0 { continue }
      #expect(!isAlive(group), "seed \(seed), round \(round)")
      // Processes that were killed with the program may still be ending.
      try await eventually { livingMembers(of: group).isEmpty }
    }
  }
}

/// A seeded generator of random numbers (SplitMix64).
struct SeededNumbers: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
