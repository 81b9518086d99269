import CompositeOperations
import CompositeOperationsFoundation
import CompositeOperationsTestKit
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct ProcessScaleTests {
  @Test func `many programs run at the same time, each with its own output`() async throws {
    let numbers = Array(0..<200)
    let all = ParallelOperation(
      numbers.map { shell("sleep 0.05; echo \($0); echo \(-$0) >&2") }, width: .limited(to: 50))
    let results = try await all.run().get()
    #expect(results.map(\.output.text) == numbers.map { "\($0)\n" })
    #expect(results.map(\.errorOutput.text) == numbers.map { "\(-$0)\n" })
  }

  // These tests run in child processes, because other tests open and close descriptors.

  @Test func `X2: thousands of runs leave no descriptor open and no zombie`() async {
    await #expect(processExitsWith: .success) {
      #if DEBUG
        let count = 2_000
      #else
        let count = 10_000
      #endif
      let once = ProcessOperation("true").reading(.text("text"))
      _ = try await ParallelOperation([once, once], width: .limited(to: 2)).run().get()
      let before = try ResourceCounts.now
      let runs = ParallelOperation(width: .limited(to: 2)) { (0..<count).lazy.map { _ in once } }
      _ = try await runs.run().get()
      #expect(try ResourceCounts.now == before)
    }
  }

  @Test func `X2: runs that fail or are cancelled leave no descriptor open and no zombie`() async {
    await #expect(processExitsWith: .success) {
      let folder = NSTemporaryDirectory()
      let operations = [
        ProcessOperation("true"), ProcessOperation("false").reading(.text("text")),
        ProcessOperation("no-such-program"), ProcessOperation(folder).reading(.text("text")),
        ProcessOperation("ls", in: "/no/such/folder").sendingOutput(to: .discarded),
        ProcessOperation("ls").reading(.file("/no/such/file")),
        ProcessOperation("ls").sendingErrorOutput(to: .file("/no/such/folder/file")),
      ]
      for operation in operations { _ = await operation.run() }
      _ = try await ParallelOperation([operations[0], operations[0]]).run().get()
      let before = try ResourceCounts.now
      for _ in 0..<50 {
        for operation in operations { _ = await operation.run() }
        let input = [UInt8](repeating: 0, count: 1 << 20)
        let sleeper = shell("sleep 3600 & sleep 3600").reading(.bytes(input))
        let run = sleeper.start()
        await Task.yield()
        run.cancel()
        #expect(await run.outcome.isCancelled)
      }
      #expect(try ResourceCounts.now == before)
    }
  }

  @Test func `X2: pipelines and streamed inputs leave no descriptor open, however they end`() async
  {
    await #expect(processExitsWith: .success) {
      let cat = ProcessOperation("cat")
      let endless = AsyncStream<[UInt8]> { [UInt8](repeating: 0, count: 1 << 16) }
      let pipelines = [
        ProcessOperation("yes").piped(into: ProcessOperation("head", "-n", "1")),
        cat.reading(.stream(endless)).piped(into: cat).piped(into: shell("head -c 9; exit 1")),
        ProcessOperation("no-such-program").piped(into: cat),
        cat.reading(.stream(endless)).piped(into: ProcessOperation("no-such-program")),
        cat.piped(into: ProcessOperation("cat", "a\0b")).piped(into: cat),
        ProcessOperation("yes").piped(into: cat.sendingOutput(to: .whole(limit: 10))),
      ]
      for pipeline in pipelines { _ = await pipeline.run() }
      _ = await ParallelOperation([cat, cat]).run()
      let before = try ResourceCounts.now
      for _ in 0..<20 {
        for pipeline in pipelines { _ = await pipeline.run() }
        let run = pipelines[1].piped(into: shell("exec sleep 3600")).start()
        await Task.yield()
        run.cancel()
        #expect(await run.outcome.isCancelled)
        _ = await cat.reading(.stream(endless)).sendingOutput(to: .whole(limit: 10)).run()
      }
      #expect(try ResourceCounts.now == before)
    }
  }

  @Test func `X2: the pipes of a program that cannot be started are closed before its run ends`()
    async
  {
    await #expect(processExitsWith: .success) {
      let pipeline = ProcessOperation("cat").piped(into: ProcessOperation("no-such-program"))
        .piped(into: ProcessOperation("cat"))
      _ = await pipeline.run()
      let before = try ResourceCounts.now
      try await withTaskExecutorPreference(ResumingThreadExecutor()) { () async throws in
        for _ in 0..<20 {
          _ = await pipeline.run()
          #expect(try ResourceCounts.now == before)
        }
      }
    }
  }

  @Test func `too many open files are an error with the remedy`() async {
    await #expect(processExitsWith: .success) {
      for _ in 0..<2 { _ = await ProcessOperation("true").run() }
      let before = try ResourceCounts.now
      // Leaves one descriptor. A program needs more for its pipes, so the number does not matter.
      let limit = try limitDescriptors(to: 1_024)
      var taken: [Int32] = []
      while case let descriptor = opened("/dev/null", O_RDONLY), descriptor >= 0 {
        taken.append(descriptor)
      }
      if let last = taken.popLast() { close(last) }
      let error = await ProcessOperation("true").run().error as? ProcessLaunchError
      for descriptor in taken { close(descriptor) }
      _ = try limitDescriptors(to: limit)
      #expect(error?.description.contains("Too many open files. Run fewer programs") == true)
      #expect(try ResourceCounts.now == before)
    }
  }

  @Test func `a started program is awaited even if no descriptor is left to watch it`() async {
    await #expect(processExitsWith: .success) {
      for _ in 0..<2 { _ = await ProcessOperation("true").run() }
      _ = try limitDescriptors(to: rlim_t(ResourceCounts.now.descriptors + 20))
      var taken: [Int32] = []
      while case let descriptor = opened("/dev/null", O_RDONLY), descriptor >= 0 {
        taken.append(descriptor)
      }
      // The leak check at exit needs descriptors itself.
      defer { for descriptor in taken { close(descriptor) } }
      func bare(_ script: String) -> ProcessOperation {
        shell(script).sendingOutput(to: .inherited).sendingErrorOutput(to: .inherited)
      }
      let ended = try await bare("exit 3").accepting(exitCodes: 3).run().get()
      #expect(ended.status == .exited(3))
      let launched = Gate()
      let run = bare("exec sleep 3600").ending(within: .seconds(3_600))
        .onLaunch { _ in launched.open() }.start()
      try await launched.pass()
      run.cancel()
      #expect(await run.outcome.isCancelled)
    }
  }

  @Test func `a lost exit status is an error that names SIGCHLD`() async {
    await #expect(processExitsWith: .success) {
      signal(SIGCHLD, SIG_IGN)
      let error = await ProcessOperation("true").run().error
      #expect(error is ProcessStatusLostError)
      #expect(error.map { "\($0)" }?.contains("SIGCHLD") == true)
    }
  }

  @Test func `closed standard descriptors are not reused for the pipes of a program`() async {
    await #expect(processExitsWith: .success) {
      let folder = try TestFolder()
      let file = folder.path(of: "file")
      // Lets Dispatch open its descriptor for timers now, so that it does not reuse these numbers.
      await withCheckedContinuation { continuation in
        DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(1)) {
          continuation.resume()
        }
      }
      for descriptor in Int32(0)...2 { close(descriptor) }
      let script = shell("cat; echo out; echo error >&2")
      let result = try await script.reading(.text("in ")).run().get()
      _ = try await script.sendingOutput(to: .file(file)).run().get()
      let written = try folder.text(of: "file")
      if result.output.text != "in out\n" || result.errorOutput.text != "error\n" { exit(2) }
      if written != "out\n" { exit(3) }
      // The descriptors that watch programs must not reuse the numbers either, because other
      // programs would inherit them.
      for descriptor in 0...2 {
        let link = "/proc/self/fd/\(descriptor)"
        let open = (try? FileManager.default.destinationOfSymbolicLink(atPath: link)) ?? ""
        for kind in ["eventpoll", "eventfd", "pidfd"] where open.contains(kind) { exit(4) }
      }
    }
  }
}

/// Continues a task on the thread that resumes it, and before that thread does anything else.
private final class ResumingThreadExecutor: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    unsafe UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
  }
}

/// Sets the maximum number of descriptors of this process.
///
/// - Returns: The previous maximum.
private func limitDescriptors(to count: rlim_t) throws -> rlim_t {
  #if canImport(Glibc)
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
  #else
    let resource = RLIMIT_NOFILE
  #endif
  var limit = rlimit()
  try #require(unsafe getrlimit(resource, &limit) == 0)
  let old = limit.rlim_cur
  limit.rlim_cur = count
  try #require(unsafe setrlimit(resource, &limit) == 0)
  return old
}
