import CompositeOperations
import CompositeOperationsFoundation
import CompositeOperationsTestKit
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct ProcessPipelineTests {
  @Test func `X8: each program reads the output of the one before it`() async throws {
    let pipeline = ProcessOperation("cat").reading(.text("b\na\nb\n"))
      .piped(into: ProcessOperation("sort")).piped(into: ProcessOperation("uniq", "-c"))
    #expect(pipeline.operationName == "cat | sort | uniq")
    for _ in 0..<2 {
      let result = try await pipeline.run().get()
      #expect(
        result.output.lines.map { $0.trimmingCharacters(in: .whitespaces) } == ["1 a", "2 b"])
      #expect(result.results.map(\.status) == [.exited(0), .exited(0), .exited(0)])
      #expect(result.results[0].output.bytes.isEmpty)
    }
  }

  @Test func `X8: streams of many megabytes pass through a pipeline`() async throws {
    let size = Lock(0)
    let result = try await ProcessOperation("head", "-c", "50000000", "/dev/zero")
      .piped(into: ProcessOperation("cat"))
      .piped(
        into: ProcessOperation("cat").sendingOutput(to: .kept(first: 0))
          .onOutputChunk { chunk in size.withLock { $0 += chunk.count } }
      ).run().get()
    #expect(size.withLock { $0 } == 50_000_000)
    #expect(result.output.droppedByteCount == 50_000_000)
  }

  @Test(arguments: 0..<3)
  func `X8: the failure of any program is named`(position: Int) async throws {
    var programs = (0..<3).map { _ in shell("cat") }
    programs[position] = shell("cat >&2; echo no such thing >&2; exit 7")
    programs[0] = programs[0].reading(.text("text\n"))
    let pipeline = programs[0].piped(into: programs[1]).piped(into: programs[2])
    let error = try await #require(throws: ProcessPipelineError.self) {
      try await pipeline.run().get()
    }
    #expect(error.failures.map(\.position) == [position + 1])
    let exit = try #require(error.failures[0].error as? ProcessExitError)
    #expect(exit.result.status == .exited(7))
    #expect(
      error.description.hasPrefix("program \(position + 1) of 3 in sh | sh | sh: /bin/sh -c "))
    #expect(error.description.hasSuffix("\n  no such thing"))
    #expect(error.localizedDescription == error.description)
  }

  @Test(arguments: 0..<3)
  func `X8: a program that cannot be started ends the others`(position: Int) async throws {
    let launched = Lock<[Int32]>([])
    var programs = (0..<3).map { _ in
      shell("exec sleep 3600").onLaunch { process in
        launched.withLock { $0.append(process.processIdentifier) }
      }
    }
    programs[position] = ProcessOperation("no-such-program")
    let pipeline = programs[0].piped(into: programs[1]).piped(into: programs[2])
    let error = try await #require(throws: ProcessPipelineError.self) {
      try await pipeline.run().get()
    }
    #expect(error.failures.map(\.position) == [position + 1])
    #expect(error.failures[0].error is ProcessLaunchError)
    for identifier in launched.withLock({ $0 }) { #expect(!isAlive(identifier)) }
  }

  @Test func `X8: a program that does not read all of its input makes no failure`() async throws {
    let pipeline = ProcessOperation("yes").piped(into: ProcessOperation("head", "-n", "1"))
    let result = try await pipeline.run().get()
    #expect(result.output.text == "y\n")
    #expect(result.results[0].status == .signalled(.brokenPipe))
    // The reader that has failed is named, and not the writer that SIGPIPE has ended.
    let failing = ProcessOperation("yes").piped(into: shell("head -n 1; exit 3"))
    let error = try await #require(throws: ProcessPipelineError.self) {
      try await failing.run().get()
    }
    #expect(error.failures.map(\.position) == [2])
  }

  @Test func `X8: a program that fails after a signal of the caller is named`() async throws {
    let launched = Lock<RunningProcess?>(nil)
    let isLaunched = Gate()
    let pipeline = shell("trap 'exit 3' USR1; echo ready; while :; do sleep 0.01; done")
      .onLaunch { process in
        launched.withLock { $0 = process }
        isLaunched.open()
      }
      .piped(
        into: ProcessOperation("cat").onOutputLine { _ in
          // Its line may arrive before the other program is reported.
          try await isLaunched.pass()
          launched.withLock(\.self)?.send(.user1, to: .program)
        })
    let error = try await #require(throws: ProcessPipelineError.self) {
      try await pipeline.run().get()
    }
    #expect(error.failures.map(\.position) == [1])
    let exit = try #require(error.failures.first?.error as? ProcessExitError)
    #expect(exit.result.status == .exited(3))
  }

  @Test func `X8: a failure ends programs that would never end by themselves`() async throws {
    for script in ["exec sleep 3600", "trap '' TERM; exec sleep 3600"] {
      let pipeline = shell(script).ending(within: .milliseconds(100))
        .piped(into: shell("exit 2"))
      let error = try await #require(throws: ProcessPipelineError.self) {
        try await pipeline.run().get()
      }
      #expect(error.failures.map(\.position) == [2])
    }
  }

  @Test func `X8: cancelling ends all programs of a pipeline`() async throws {
    let launched = Lock<[Int32]>([])
    let gate = Gate()
    let sleep = shell("exec sleep 3600").onLaunch { process in
      launched.withLock { $0.append(process.processIdentifier) }
      if launched.withLock({ $0.count }) == 3 { gate.open() }
    }
    let run = sleep.piped(into: sleep).piped(into: sleep).start()
    try await gate.pass()
    run.cancel()
    #expect(await run.outcome.isCancelled)
    for identifier in launched.withLock({ $0 }) { #expect(!isAlive(identifier)) }
  }

  @Test func `X8: merged standard error goes into the pipe, and the last settings apply`()
    async throws
  {
    let folder = try TestFolder()
    let first = shell("echo out; echo error >&2").sendingOutput(to: .file(folder.path(of: "file")))
      .mergingErrorOutput()
    let result = try await first.piped(into: ProcessOperation("cat").reading(.text("text")))
      .run().get()
    #expect(result.output.lines == ["out", "error"])
    #expect(!FileManager.default.fileExists(atPath: folder.path(of: "file")))
    let folders = try await shell("pwd -P", in: folder.path)
      .piped(into: shell("cat; pwd -P", in: "/")).run().get()
    #expect(folders.output.lines == [folder.path, "/"])
  }
}
