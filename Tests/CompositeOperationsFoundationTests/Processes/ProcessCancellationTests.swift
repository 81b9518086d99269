import CompositeOperations
import CompositeOperationsFoundation
import CompositeOperationsTestKit
import Foundation
import TestSupport
import Testing

@Suite struct ProcessCancellationTests {
  #if os(Linux)
    // In a process of its own, where no other test starts programs.
    @Test(.timeLimit(.minutes(10)))
    func `X1: a cancellation takes precedence over programs that have not been started`()
      async throws
    {
      await #expect(processExitsWith: .success) {
        // Two of each: two threads start programs in turn.
        let folder = try TestFolder()
        var sleepers: [OperationRun<ProcessResult>] = []
        let groups = Lock<[Int32]>([])
        let sleeper = shell("exec sleep 3600").ending(within: .seconds(3_600))
          .onLaunch { process in groups.withLock { $0.append(process.processIdentifier) } }
        for _ in 0..<2 { sleepers.append(sleeper.start()) }
        try await eventually { groups.withLock { $0.count == 2 } }
        // The first programs block all starts until the others are waiting for theirs, the second
        // ones until the sleepers are cancelled, and the third ones until the sleepers have ended.
        // More programs than are started in one turn are between them.
        let first = try await LeasedProgram.two("first", in: folder)
        let second = try await LeasedProgram.two("second", in: folder)
        let third = try await LeasedProgram.two("third", in: folder)
        let firstRuns = first.map { program($0.path).start() }
        try await eventually { first.allSatisfy(\.isBlocked) }
        let batch = ParallelOperation(
          second.map { program($0.path) } + (0..<20).map { _ in program("/bin/true") }
            + third.map { program($0.path) },
          width: .limited(to: 24))
        let areWaiting = Gate()
        // On a serial executor, children run in their order until they suspend.
        let batchRun = Task(executorPreference: SerialQueue()) {
          await ParallelOperation(batch, SimpleOperation { areWaiting.open() }).run()
        }
        try await areWaiting.pass()
        for program in first { program.unblock() }
        try await eventually { second.allSatisfy(\.isBlocked) }
        for sleeper in sleepers { sleeper.cancel() }
        for program in second { program.unblock() }
        try await eventually { third.allSatisfy(\.isBlocked) }
        // A sleeper got its signal before the third start, or gets it after that start.
        let end = ContinuousClock.now + .seconds(30)
        @Sendable func haveEnded() -> Bool {
          groups.withLock { $0 }.allSatisfy { livingMembers(of: $0).isEmpty }
        }
        try await eventually { haveEnded() || ContinuousClock.now > end }
        #expect(haveEnded())
        for program in third { program.unblock() }
        for sleeper in sleepers { #expect(await sleeper.outcome.isCancelled) }
        for run in firstRuns { #expect(await run.outcome.result != nil) }
        #expect(await batchRun.value.result != nil)
      }
    }
  #endif

  @Test(.timeLimit(.minutes(10)))
  func `X1: process groups that are cancelled together have all ended`() async throws {
    let count = 50
    let groups = Lock<[Int32]>([])
    let all = Gate()
    let one = shell("trap '' HUP; sleep 3600 & echo; wait").ending(within: .seconds(3_600))
      .onLaunch { process in groups.withLock { $0.append(process.processIdentifier) } }
      .onOutputLine { _ in try? await all.pass() }
    let run = ParallelOperation((0..<count).map { _ in one }, width: .limited(to: count)).start()
    await all.waitForArrivals(count)
    run.cancel()
    #expect(await run.outcome.isCancelled)
    let seen = groups.withLock { $0 }
    #expect(seen.count == count)
    for group in seen { #expect(livingMembers(of: group).isEmpty) }
  }

  @Test(.timeLimit(.minutes(10)))
  func `the status and the output of a cancelled program are in its late outcome`() async throws {
    let gate = Gate()
    let run = shell("echo told >&2; echo out; exec sleep 3600")
      .onOutputLine { _ in try? await gate.pass() }.start()
    await gate.waitForArrivals(1)
    run.cancel()
    #expect(await run.outcome.isCancelled)
    let late = try #require(await run.lateOutcome?.error as? ProcessExitError)
    #expect(late.result.status == .signalled(.terminate))
    #expect(late.result.output.text == "out\n")
    #expect(late.result.output.isComplete && late.result.errorOutput.isComplete)
    #expect(late.lastErrorOutput == "told\n")
  }

  @Test(.timeLimit(.minutes(10)))
  func `a program that exits cleanly after a cancellation has a late result`() async throws {
    let gate = Gate()
    let lines = Lock(0)
    let run = shell("trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.01; done")
      .ending(within: .seconds(3_600))
      .onOutputLine { _ in
        lines.withLock { $0 += 1 }
        try? await gate.pass()
      }.start()
    await gate.waitForArrivals(1)
    run.cancel()
    #expect(await run.outcome.isCancelled)
    #expect(await run.lateOutcome?.result?.output.lines == ["ready", "bye"])
    // The handler receives no line after the cancellation.
    #expect(lines.withLock { $0 } == 1)
  }

  @Test(.timeLimit(.minutes(10)), .enabled(if: isInstalled("perl")))
  func `a program that has joined another process group is ended too`() async throws {
    let gate = Gate()
    let script = "$| = 1; setpgrp(0, getpgrp(getppid())); print qq(moved\\n); sleep 3600"
    let run = ProcessOperation("perl", "-e", script).ending(within: .seconds(3_600))
      .onOutputLine { _ in try? await gate.pass() }.start()
    await gate.waitForArrivals(1)
    run.cancel()
    #expect(await run.outcome.isCancelled)
  }

  #if os(Linux)
    @Test(.timeLimit(.minutes(10)), .enabled(if: getuid() == 0 && isInstalled("setpriv")))
    func `X1: a program that cannot be signalled is left running, and is reaped later`()
      async
    {
      await #expect(processExitsWith: .success) {
        let folder = try TestFolder()
        #expect(unsafe chmod(folder.path, 0o755) == 0)
        let tool = folder.path(of: "tool")
        try FileManager.default.copyItem(atPath: "/usr/bin/setpriv", toPath: tool)
        #expect(unsafe chmod(tool, 0o4755) == 0)
        // Continues as an ordinary user that can become root again.
        #expect(setreuid(65_534, 0) == 0)
        #expect(seteuid(65_534) == 0)
        let gate = Gate()
        let run = ProcessOperation(tool, "--reuid", "0", "sh", "-c", "echo ready; exec sleep 3600")
          .ending(within: .milliseconds(50)).onOutputLine { _ in try? await gate.pass() }.start()
        await gate.waitForArrivals(1)
        run.cancel()
        #expect(await run.outcome.isCancelled)
        let late = try #require(await run.lateOutcome?.error as? ProcessLeftRunningError)
        #expect(late.description.contains("may not signal it"))
        #expect(isAlive(late.processIdentifier))
        #expect(seteuid(0) == 0)
        #expect(kill(late.processIdentifier, SIGKILL) == 0)
        try await eventually {
          !FileManager.default.fileExists(atPath: "/proc/\(late.processIdentifier)")
        }
      }
    }

    #if arch(x86_64) || arch(arm64)
      @Test(.timeLimit(.minutes(10)), .enabled(if: isInstalled("perl")))
      func `the status of a traced program is available when its tracer detaches`()
        async throws
      {
        let folder = try TestFolder()
        let fifo = folder.path(of: "fifo")
        #expect(unsafe mkfifo(fifo, 0o600) == 0)
        let writer = opened(fifo, O_RDWR | O_NONBLOCK)
        defer { close(writer) }
        // The script starts no processes, because their ends would stop a traced shell.
        let launched = Lock<Int32>(0)
        let run = shell("read go < \"$1\"; exit 3", fifo).accepting(exitCodes: 3)
          .onLaunch { process in launched.withLock { $0 = process.processIdentifier } }.start()
        try await eventually { launched.withLock { $0 } != 0 }
        let program = launched.withLock { $0 }
        #if arch(x86_64)
          let ptrace = 101
        #else
          let ptrace = 117
        #endif
        // PTRACE_SEIZE is 0x4206.
        let script = """
          $| = 1; syscall(\(ptrace), 0x4206, \(program), 0, 0) == 0 or die "not allowed: $!\\n";
          print "traced\\n"; until (-e $ARGV[0]) { select(undef, undef, undef, 0.01) }
          """
        let traced = Gate()
        let tracer = ProcessOperation("perl", "-e", script, folder.path(of: "end"))
          .onOutputLine { _ in traced.open() }.start()
        try await traced.pass()
        #expect(wrote("go\n", to: writer))
        try await eventually { state(of: program) == "Z" }
        try folder.write("", to: "end")
        #expect(try await run.outcome.get().status == .exited(3))
        _ = try await tracer.outcome.get()
      }
    #endif
  #endif
}

private func program(_ path: String) -> some ComposableOperation<Void> {
  ProcessOperation(path, arguments: []).map { _ in }
}

/// A task executor with one serial queue.
private final class SerialQueue: TaskExecutor {
  private let queue = DispatchQueue(label: "serial")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

#if os(Linux)
  /// A copy of `/bin/true` with a lease on its file: its start blocks until ``unblock()`` is called,
  /// at most 45 s (`/proc/sys/fs/lease-break-time`).
  private final class LeasedProgram: Sendable {
    let path: String
    private let file: Int32
    // The C library has these numbers for programs that define _GNU_SOURCE.
    private static let (setSignal, setLease, getLease) = (Int32(10), Int32(1_024), Int32(1_025))

    init(_ name: String, in folder: TestFolder) async throws {
      path = folder.path(of: name)
      // A program copies it: a file that this process writes could be open in one of its children.
      _ = try await shell("cp /bin/true \"$1\"", path).run().get()
      file = opened(path, O_RDONLY)
      // The kernel reports a blocked start by a signal, which is ignored by default.
      #expect(fcntl(file, Self.setSignal, SIGURG) == 0)
      #expect(fcntl(file, Self.setLease, Int32(F_WRLCK)) == 0)
    }

    static func two(_ name: String, in folder: TestFolder) async throws -> [LeasedProgram] {
      [
        try await LeasedProgram(name + "1", in: folder),
        try await LeasedProgram(name + "2", in: folder),
      ]
    }

    deinit { close(file) }

    var isBlocked: Bool { fcntl(file, Self.getLease) != Int32(F_WRLCK) }

    func unblock() { _ = fcntl(file, Self.setLease, Int32(F_UNLCK)) }
  }
#endif
