import CompositeOperations
import CompositeOperationsFoundation
import CompositeOperationsTestKit
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct ProcessInputTests {
  /// Chunks from a closure, which counts as the source of a sequence.
  private struct Chunks: AsyncSequence, Sendable {
    let next: @Sendable (Int) async throws -> [UInt8]?

    struct AsyncIterator: AsyncIteratorProtocol {
      let body: @Sendable (Int) async throws -> [UInt8]?
      var count = 0

      mutating func next() async throws -> [UInt8]? {
        count += 1
        return try await body(count)
      }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(body: next) }
  }

  @Test
  func `X7: chunks are written while they arrive, and the end of the sequence ends the input`()
    async throws
  {
    let (chunks, feed) = AsyncStream.makeStream(of: [UInt8].self)
    let lines = Lock<[String]>([])
    // The next chunk is produced only after the program has answered the one before it.
    feed.yield(Array("1\n".utf8))
    let result = try await ProcessOperation("cat").reading(.stream(chunks))
      .onOutputLine { line in
        lines.withLock { $0.append(line) }
        if let number = Int(line), number < 5 {
          feed.yield(Array("\(number + 1)\n".utf8))
        } else {
          feed.finish()
        }
      }.run().get()
    #expect(lines.withLock { $0 } == ["1", "2", "3", "4", "5"])
    #expect(result.status == .exited(0))
  }

  @Test func `X7: a stream of bytes or of chunks arrives complete and in order, in each run`()
    async throws
  {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededNumbers(seed: seed)
    let chunks = (0..<300).map { _ in
      (0..<Int.random(in: 0...50_000, using: &random)).map { _ in
        UInt8(truncatingIfNeeded: random.next())
      }
    }
    let sequence = Chunks { $0 <= chunks.count ? chunks[$0 - 1] : nil }
    let cat = ProcessOperation("cat").reading(.stream(sequence))
    for _ in 0..<2 {
      #expect(try await cat.run().get().output.bytes == Array(chunks.joined()), "seed \(seed)")
    }
    let bytes = Array(chunks.joined().prefix(200_000))
    let (stream, feed) = AsyncStream.makeStream(of: UInt8.self)
    for byte in bytes { feed.yield(byte) }
    feed.finish()
    let copy = try await ProcessOperation("cat").reading(.stream(stream)).run().get()
    #expect(copy.output.bytes == bytes, "seed \(seed)")
  }

  @Test func `X7: no more chunks are requested while the program does not read`() async throws {
    let folder = try TestFolder()
    let fifo = folder.path(of: "fifo")
    #expect(unsafe mkfifo(fifo, 0o600) == 0)
    let writer = opened(fifo, O_RDWR | O_NONBLOCK)
    defer { close(writer) }
    let requested = Lock(0)
    let count = 2_000
    let chunks = Chunks { number in
      requested.withLock { $0 = number }
      return number <= count ? [UInt8](repeating: 0, count: 16 << 10) : nil
    }
    let run = shell("read go < \"$1\"; wc -c", fifo).reading(.stream(chunks)).start()
    let samples = Lock((last: 0, same: 0))
    try await eventually {
      let now = requested.withLock { $0 }
      return samples.withLock { samples in
        samples = (now, now == samples.last && now > 0 ? samples.same + 1 : 0)
        return samples.same == 20
      }
    }
    // The pipe has 64 KiB, and so have the bytes that wait for it and those that are being written.
    #expect(requested.withLock { $0 } < 20)
    #expect(wrote("go\n", to: writer))
    #expect(try await run.outcome.get().output.text.contains("\(count * (16 << 10))"))
  }

  @Test(arguments: ["exec true", "head -c 5", "exec <&-; echo closed; exec sleep 0.01"])
  func `X7: a program that does not read all of a stream is not an error`(script: String)
    async throws
  {
    let endless = Chunks { _ in [UInt8](repeating: 10, count: 1 << 20) }
    for _ in 0..<10 {
      let result = try await shell(script).reading(.stream(endless)).run().get()
      #expect(result.status == .exited(0))
    }
    // The sequence waits for an element that never arrives.
    let (silent, feed) = AsyncStream.makeStream(of: [UInt8].self)
    if script == "exec true" {
      _ = try await shell(script).reading(.stream(silent)).run().get()
    }
    feed.finish()
  }

  @Test func `X7: an error of the sequence ends the program and is the error of the run`()
    async throws
  {
    struct Refused: Error {}
    let launched = Lock<Int32>(0)
    let chunks = Chunks { number in
      if number > 3 { throw Refused() }
      return Array("line\n".utf8)
    }
    let cat = shell("cat; exec sleep 3600").reading(.stream(chunks))
      .onLaunch { process in launched.withLock { $0 = process.processIdentifier } }
    await #expect(throws: Refused.self) { try await cat.run().get() }
    #expect(!isAlive(launched.withLock { $0 }))
    let missing = ProcessOperation("no-such-program").reading(.stream(Chunks { _ in [1] }))
    await #expect(throws: ProcessLaunchError.self) { try await missing.run().get() }
  }

  @Test func `X7: the input of a cancelled run has no end that could pass for the whole`()
    async throws
  {
    let folder = try TestFolder()
    let (chunks, feed) = AsyncStream.makeStream(of: [UInt8].self)
    feed.yield(Array("a part\n".utf8))
    let gate = Gate()
    let run = shell("trap '' TERM; head -n 1; cat; touch \"$1\"", folder.path(of: "end"))
      .reading(.stream(chunks)).ending(within: .milliseconds(500))
      .onOutputLine { _ in gate.open() }.start()
    try await gate.pass()
    run.cancel()
    #expect(await run.outcome.isCancelled)
    #expect(!FileManager.default.fileExists(atPath: folder.path(of: "end")))
  }

  @Test func `X7: an error of the sequence after the program has ended fails no run`() async throws
  {
    struct Refused: Error {}
    let folder = try TestFolder()
    let fifo = folder.path(of: "fifo")
    #expect(unsafe mkfifo(fifo, 0o600) == 0)
    let writer = opened(fifo, O_RDWR | O_NONBLOCK)
    defer { close(writer) }
    let (isClosed, hasThrown) = (Gate(), Gate())
    let asked = folder.path(of: "asked")
    let chunks = Chunks { number in
      if number == 1 { return Array("line\n".utf8) }
      // An earlier end of the program would end the sequence after its first chunk.
      #expect(FileManager.default.createFile(atPath: asked, contents: nil))
      try await isClosed.pass()
      hasThrown.open()
      throw Refused()
    }
    // The child holds the output open, and notices the end of the input when the program has ended.
    let script = """
      exec 3<&0  # The shell gives /dev/null to programs in the background.
      (cat >&2; echo closed; read go < "$1"; echo late) <&3 3<&- &
      while [ ! -e "$2" ]; do sleep 0.01; done
      """
    let run = shell(script, fifo, asked)
      .reading(.stream(chunks)).draining(for: .seconds(3_600))
      .onOutputLine { line in if line == "closed" { isClosed.open() } }.start()
    try await hasThrown.pass()
    #expect(wrote("go\n", to: writer))
    let result = try await run.outcome.get()
    #expect(result.output.lines == ["closed", "late"])
  }

  #if os(Linux)
    // In a child process, whose input changes.
    @Test func `X7: an inherited input is the one of this process, also if it is a terminal`() async
    {
      await #expect(processExitsWith: .success) {
        let script = shell("readlink /proc/$$/fd/0; cut -d ' ' -f 5 /proc/$$/stat")
          .reading(.inherited)
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/0")
        let lines = try await script.run().get().output.lines
        #expect(lines.first == own)
        #expect(lines.last != "\(getpgrp())" || isatty(0) == 1)
        // A terminal that is the input of this process for a short time, as Linux makes one.
        let terminal = opened("/dev/ptmx", O_RDWR | O_NOCTTY)
        var number: Int32 = 0
        #expect(unsafe ioctl(terminal, 0x4004_5431, &number) == 0)
        #expect(unsafe ioctl(terminal, 0x8004_5430, &number) == 0)
        let name = "/dev/pts/\(number)"
        let before = dup(0)
        let slave = opened(name, O_RDWR | O_NOCTTY)
        #expect(dup2(slave, 0) == 0)
        let interactive = try await script.run().get().output.lines
        #expect(dup2(before, 0) == 0)
        for descriptor in [before, slave, terminal] { close(descriptor) }
        #expect(interactive == [name, "\(getpgrp())"])
      }
    }
  #endif
}
