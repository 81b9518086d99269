import CompositeOperations
import CompositeOperationsFoundation
import CompositeOperationsTestKit
import Foundation
import Testing

@Suite struct ProcessCancellationTests {
  #if os(Linux)
    @Test(.timeLimit(.minutes(10)))
    func `X1: a cancellation takes precedence over programs that have not been started`()
      async throws
    {
      let folder = try TestFolder()
      let calls = folder.path(of: "calls")
      #expect(unsafe mkfifo(calls, 0o600) == 0)
      // The pipe has no writer, so its readers block.
      let silence = folder.path(of: "silence")
      #expect(unsafe mkfifo(silence, 0o600) == 0)
      let mark = UUID().uuidString
      let sleeperIsReady = Gate()
      // On SIGTERM, prints how many of the other programs have been started.
      let sleeper = shell(
        """
        trap 'grep -ls "m[a]rk-$1" /proc/[0-9]*/cmdline | wc -l; echo > "$2"; exit 0' TERM
        echo ready; while :; do sleep 0.01; done
        """, mark, calls
      ).ending(within: .seconds(3_600))
        .onOutputLine { _ in sleeperIsReady.open() }
        .start()
      try await sleeperIsReady.pass()
      // A long argument makes each start slow.
      let ballast = String(repeating: "x", count: 100_000)
      let count = 1_000
      func one(_ script: String) -> ProcessOperation {
        shell(script + "; read line < \"$2\"", calls, silence, "mark-\(mark)", ballast)
          .sendingOutput(to: .discarded).sendingErrorOutput(to: .discarded)
      }
      // A later program makes the call, so that all others are waiting for their start by then.
      let programs = (0..<count).map { one($0 == count / 10 ? "echo > \"$1\"" : ":") }
      let call = opened(calls, O_RDWR)
      defer { close(call) }
      let batch = ParallelOperation(programs, width: .limited(to: count)).start()
      // On a new thread: a busy pool might run this only after all programs have been started.
      await onNewThread {
        readByte(from: call)
        sleeper.cancel()
        readByte(from: call)
        batch.cancel()
      }
      #expect(await sleeper.outcome.isCancelled)
      #expect(await batch.outcome.isCancelled)
      let lines = try #require(await sleeper.lateOutcome?.result?.output.lines)
      let startedBefore = try #require(lines.last.flatMap { Int($0) })
      #expect(1..<(count / 2) ~= startedBefore)
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
