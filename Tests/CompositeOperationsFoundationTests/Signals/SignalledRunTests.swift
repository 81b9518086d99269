import CompositeOperations
import CompositeOperationsFoundation
import CompositeOperationsTestKit
import Foundation
import SystemSupport
import TestSupport
import Testing

// Serialized, because signals reach every run of the process that handles them.
@Suite(.serialized, .timeLimit(.minutes(10))) struct SignalledRunTests {
  private struct Failure: Error {}

  @Test(arguments: terminationSignals)
  func `X9: a signal cancels the run, whose programs have ended when the process exits`(
    signal: Int32
  ) async throws {
    let folder = try TemporaryFolder()
    let script = """
      trap 'touch \(folder["cleaned"].path); exit' TERM; echo $$ > \(folder["new"].path)
      mv \(folder["new"].path) \(folder["id"].path); while :; do sleep 0.01; done
      """
    let ended = try await Program.built("SignalledProgram", [script]).run { process in
      try await eventually { FileManager.default.fileExists(atPath: folder["id"].path) }
      kill(process, signal)
    }
    #expect(ended.status == 128 + signal, "\(ended.error)")
    #expect(FileManager.default.fileExists(atPath: folder["cleaned"].path))
    #expect(try !isAlive(identifier(in: folder)))
  }

  @Test func `X9: a second signal kills the programs and exits at once with its status`()
    async throws
  {
    let folder = try TemporaryFolder()
    let script = """
      trap 'touch \(folder["heard"].path)' TERM; echo $$ > \(folder["new"].path)
      mv \(folder["new"].path) \(folder["id"].path); while :; do sleep 0.01; done
      """
    let ended = try await Program.built("SignalledProgram", [script]).run { process in
      try await eventually { FileManager.default.fileExists(atPath: folder["id"].path) }
      kill(process, SIGTERM)
      // The run is cancelled, and its program does not end.
      try await eventually { FileManager.default.fileExists(atPath: folder["heard"].path) }
      kill(process, SIGINT)
    }
    #expect(ended.status == 130, "\(ended.error)")
    // No handler of `atexit` has been called, which could block.
    #expect(!ended.error.contains("exit handler"))
    let left = try identifier(in: folder)
    try await eventually { !isAlive(left) }
  }

  #if os(Linux)
    @Test func `X9: a second signal leaves no program that is being started`() async throws {
      let folder = try TemporaryFolder()
      let script = """
        trap 'touch \(folder["heard"].path)' TERM; touch \(folder["id"].path)
        while :; do sleep 0.01; done
        """
      var program = Program.built("SignalledProgram", [script, "start others without end"])
      // The programs that it starts inherit the variable.
      let mark = "SIGNALLED_PROGRAM=\(folder["id"].path)"
      program.environment["SIGNALLED_PROGRAM"] = folder["id"].path
      let ended = try await program.run { process in
        try await eventually { FileManager.default.fileExists(atPath: folder["id"].path) }
        kill(process, SIGTERM)
        try await eventually { FileManager.default.fileExists(atPath: folder["heard"].path) }
        kill(process, SIGINT)
      }
      #expect(ended.status == 130, "\(ended.error)")
      try await eventually {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return !all.contains { process in
          let variables = FileManager.default.contents(atPath: "/proc/\(process)/environ")
          return variables?.range(of: Data(mark.utf8)) != nil
        }
      }
    }
  #endif

  @Test func `X9: a signal that arrives at the end of the last run is not lost`() async {
    await #expect(processExitsWith: .signal(SIGUSR1)) {
      let isDelivered = Lock(false)
      let received = try ReceivedSignals([SIGUSR1]) { _ in isDelivered.withLock { $0 = true } }
      // To this thread, which has handled it when the call returns.
      var signals = sigset_t()
      unsafe sigemptyset(&signals)
      unsafe sigaddset(&signals, SIGUSR1)
      unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
      raise(SIGUSR1)
      received.end()
      // The subscriber was notified, or the signal ends the process.
      if isDelivered.withLock({ $0 }) { kill(getpid(), SIGUSR1) }
      sleep(60)
    }
  }

  @Test func `X9: a run that no signal cancels has its outcome, and ignored signals stay ignored`()
    async throws
  {
    let quiet = try await Program.built("SignalledProgram", ["exit 0"]).run()
    #expect(quiet.status == 0)
    #expect(quiet.error.contains("exit handler"))
    // As `nohup` does.
    var program = Program.built(
      "SignalledProgram", ["trap 'exit' TERM; touch \"$id\"; while :; do sleep 0.01; done"])
    let folder = try TemporaryFolder()
    program.environment["id"] = folder["id"].path
    program.arguments =
      ["-c", "trap '' HUP; exec \"$0\" \"$@\"", program.executable.path]
      + program.arguments
    program.executable = URL(fileURLWithPath: "/bin/sh")
    let ended = try await program.run { process in
      try await eventually { FileManager.default.fileExists(atPath: folder["id"].path) }
      #if os(Linux)
        #expect(signals("SigIgn", of: process).contains(SIGHUP))
        #expect(!signals("SigCgt", of: process).contains(SIGHUP))
        #expect(signals("SigCgt", of: process).contains(SIGTERM))
      #endif
      kill(process, SIGHUP)
      kill(process, SIGTERM)
    }
    #expect(ended.status == 128 + SIGTERM, "\(ended.error)")
  }

  @Test func `X9: runs that handle the same signal at the same time are all cancelled`()
    async throws
  {
    // No other suite handles this signal.
    let gate = Gate()
    let body = SimpleOperation.withContext { context in
      do { try await gate.pass() } catch { throw Failure() }
    }
    async let first = body.run(cancelledBy: [.user1])
    async let second = body.run(cancelledBy: [.user1])
    async let other = SimpleOperation { try await gate.pass() }.run(cancelledBy: [.user2])
    await gate.waitForArrivals(3)
    kill(getpid(), SIGUSR1)
    for run in [try await first, try await second] {
      #expect(run.outcome.isCancelled)
      #expect(run.signal == .user1)
      #expect(run.interruptedStatus == 128 + SIGUSR1)
    }
    gate.open()
    #expect(try await other.outcome.result != nil)
    #expect(try await other.interruptedStatus == nil)
  }

  @Test func `X9: a cancellation of the task cancels the run without a signal`() async throws {
    let gate = Gate()
    let task = Task {
      try await SimpleOperation { try await gate.pass() }.run(cancelledBy: [.user1])
    }
    await gate.waitForArrivals(1)
    task.cancel()
    let run = try await task.value
    #expect(run.outcome.isCancelled)
    #expect(run.signal == nil && run.interruptedStatus == nil)
  }

  private func identifier(in folder: TemporaryFolder) throws -> Int32 {
    let text = try String(contentsOf: folder["id"], encoding: .utf8)
    return try #require(Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)))
  }
}
