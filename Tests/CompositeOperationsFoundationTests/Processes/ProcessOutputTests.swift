import CompositeOperations
import CompositeOperationsFoundation
import CompositeOperationsTestKit
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct ProcessOutputTests {
  @Test func `the first bytes are kept and the others counted`() async throws {
    let script = shell("printf 0123456789; printf abcdef >&2")
    let result = try await script.sendingOutput(to: .kept(first: 4))
      .sendingErrorOutput(to: .kept(first: 6)).run().get()
    #expect(result.output.text == "0123")
    #expect(result.output.droppedByteCount == 6)
    #expect(result.errorOutput.text == "abcdef")
    #expect(result.errorOutput.droppedByteCount == 0)
  }

  @Test func `the last bytes are kept and the others counted`() async throws {
    for limit in [0, 1, 9, 10, 11, Int.max] {
      let result = try await shell("printf 0123456789").sendingOutput(to: .kept(last: limit))
        .run().get()
      #expect(result.output.text == String("0123456789".suffix(limit)))
      #expect(result.output.droppedByteCount == max(0, 10 - limit))
    }
  }

  @Test func `a limit applies to tens of megabytes of output`() async throws {
    let size = 20 << 20
    let script = shell("head -c \(size) /dev/zero; printf end")
    let first = try await script.sendingOutput(to: .kept(first: 1_000)).run().get().output
    #expect(first.bytes == [UInt8](repeating: 0, count: 1_000))
    #expect(first.droppedByteCount == size + 3 - 1_000)
    let last = try await script.sendingOutput(to: .kept(last: 10)).run().get().output
    #expect(last.bytes == [UInt8](repeating: 0, count: 7) + Array("end".utf8))
    #expect(last.droppedByteCount == size + 3 - 10)
    let all = try await script.sendingOutput(to: .kept(first: .max)).run().get().output
    #expect(all.bytes.count == size + 3)
    #expect(all.droppedByteCount == 0)
  }

  @Test func `output can contain any bytes`() async throws {
    let folder = try TestFolder()
    let bytes = (0...255).map { UInt8($0) }
    try Data(bytes).write(to: URL(fileURLWithPath: folder.path(of: "bytes")))
    let result = try await ProcessOperation("cat", "bytes", in: folder.path).run().get()
    #expect(result.output.bytes == bytes)
    #expect(result.output.text.contains("\u{FFFD}"))
  }

  @Test(arguments: [
    ("", []), ("\\n", [""]), ("a", ["a"]), ("a\\n", ["a"]), ("a\\n\\nb", ["a", "", "b"]),
    ("a\\r\\nb\\r\\n", ["a", "b"]), ("a\\rb\\n", ["a\rb"]), ("a\\r", ["a\r"]),
    ("\\377\\n\\303\\244", ["\u{FFFD}", "ä"]),
  ])
  func `lines end with a line feed, with or without a carriage return`(
    format: String, lines: [String]
  ) async throws {
    let seen = Lock<[String]>([])
    let result = try await ProcessOperation("printf", format)
      .onOutputLine { line in seen.withLock { $0.append(line) } }.run().get()
    #expect(seen.withLock { $0 } == lines)
    #expect(result.output.lines == lines)
  }

  @Test(.timeLimit(.minutes(10)))
  func `a line that arrives in pieces is passed on as a whole`() async throws {
    let folder = try TestFolder()
    let fifo = folder.path(of: "fifo")
    #expect(unsafe mkfifo(fifo, 0o600) == 0)
    let writer = opened(fifo, O_RDWR | O_NONBLOCK)
    defer { close(writer) }
    // Standard error signals that a piece has been written, and only then the next one is written.
    let seen = Lock<[String]>([])
    let script = shell("printf one; echo 1 >&2; read go < \"$1\"; printf -- '-two\\nthree'", fifo)
      .onOutputLine { line in seen.withLock { $0.append(line) } }
      .onErrorLine { line in
        #expect(line == "1")
        #expect(seen.withLock { $0.isEmpty })
        #expect(wrote("go\n", to: writer))
      }
    _ = try await script.run().get()
    #expect(seen.withLock { $0 } == ["one-two", "three"])
  }

  @Test func `a line is passed on while the program runs`() async throws {
    let folder = try TestFolder()
    let file = folder.path(of: "seen")
    // The program ends only after the line has been passed on.
    let script = shell("echo ready; until [ -e \"$1\" ]; do sleep 0.01; done", file)
    let result = try await script.onOutputLine { _ in try folder.write("", to: "seen") }.run().get()
    #expect(result.output.lines == ["ready"])
  }

  @Test func `X4: a very long line is passed on in parts of whole characters`() async throws {
    let text = String(repeating: "aä", count: 1_000_000)
    let parts = Lock<[String]>([])
    _ = try await ProcessOperation("cat").reading(.text(text + "\nnext"))
      .onOutputLine { part in parts.withLock { $0.append(part) } }.run().get()
    let seen = parts.withLock { $0 }
    #expect(seen.count == 4)
    #expect(seen.last == "next")
    #expect(seen.dropLast().joined() == text)
    #expect(seen.allSatisfy { $0.utf8.count <= 1 << 20 })
  }

  @Test(arguments: -1...2, ["\n", "\r\n"])
  func `X4: no part of a line is longer than the limit`(
    excess: Int, end: String
  ) async throws {
    let limit = 1 << 20
    let line = String(repeating: "x", count: limit + excess)
    let parts = Lock<[String]>([])
    let cat = ProcessOperation("cat").reading(.text(line + end + "next" + end))
    _ = try await cat.onOutputLine { part in parts.withLock { $0.append(part) } }.run().get()
    let seen = parts.withLock { $0 }
    #expect(seen.last == "next")
    #expect(seen.dropLast().joined() == line)
    #expect(seen.count == (excess > 0 ? 3 : 2))
    #expect(seen.allSatisfy { $0.utf8.count <= limit })
  }

  @Test func `X4: chunks have all bytes in order, whatever they are`() async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededNumbers(seed: seed)
    let bytes = (0..<3_000_000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    let outputs = Lock<[UInt8]>([])
    let errors = Lock<[UInt8]>([])
    let result = try await shell("tee /dev/stderr").reading(.bytes(bytes))
      .sendingOutput(to: .kept(first: 3))
      .onOutputChunk { chunk in
        #expect(!chunk.isEmpty)
        outputs.withLock { $0 += chunk }
      }
      .onErrorChunk { chunk in errors.withLock { $0 += chunk } }.run().get()
    #expect(outputs.withLock { $0 } == bytes, "seed \(seed)")
    #expect(errors.withLock { $0 } == bytes, "seed \(seed)")
    #expect(result.output.bytes == Array(bytes.prefix(3)))
    // The last closure counts.
    let echo = ProcessOperation("echo", "a").onOutputLine { _ in Issue.record("was replaced") }
      .onOutputChunk { chunk in outputs.withLock { $0 = chunk } }
    _ = try await echo.run().get()
    #expect(outputs.withLock { $0 } == Array("a\n".utf8))
  }

  @Test func `X4: a chunk is passed on while the program runs`() async throws {
    let folder = try TestFolder()
    let file = folder.path(of: "seen")
    let script = shell("printf part; until [ -e \"$1\" ]; do sleep 0.01; done", file)
    let result = try await script.onOutputChunk { _ in try folder.write("", to: "seen") }
      .run().get()
    #expect(result.output.text == "part")
  }

  @Test(.timeLimit(.minutes(10)), arguments: [false, true])
  func `X4: a program blocks while its lines are not consumed`(areChunks: Bool) async throws {
    let folder = try TestFolder()
    let end = folder.path(of: "end")
    let gate = Gate()
    let lines = Lock(0)
    let launched = Lock<Int32>(0)
    // The pipe and the buffer of lines reaper about a tenth of the output.
    let handle: @Sendable (Int) async throws -> Void = { new in
      let isFirst = lines.withLock { lines in
        lines += new
        return lines == new
      }
      if isFirst { try await gate.pass() }
    }
    let process = shell("seq 300000; touch \"$1\"", end).sendingOutput(to: .kept(first: 0))
      .onLaunch { process in launched.withLock { $0 = process.processIdentifier } }
    let run =
      areChunks
      ? process.onOutputChunk { try await handle($0.count { $0 == UInt8(ascii: "\n") }) }.start()
      : process.onOutputLine { _ in try await handle(1) }.start()
    await gate.waitForArrivals(1)
    let group = launched.withLock { $0 }
    let blockedSamples = Lock(0)
    // A blocked writer stays blocked, but a wait for a processor or for a page is short. So 20
    // samples in a row have to agree.
    try await eventually {
      let writers = livingMembers(of: group).filter { $0 != group }
      let isStuck = writers.count == 1 && writers.allSatisfy { state(of: $0) == "S" }
      let count = blockedSamples.withLock { blockedSamples in
        blockedSamples = isStuck ? blockedSamples + 1 : 0
        return blockedSamples
      }
      return count == 20 || FileManager.default.fileExists(atPath: end)
    }
    #expect(!FileManager.default.fileExists(atPath: end))
    gate.open()
    _ = try await run.outcome.get()
    #expect(lines.withLock { $0 } == 300_000)
    #expect(FileManager.default.fileExists(atPath: end))
  }

  @Test func `X4: no line is lost if lines are consumed more slowly than they are written`()
    async throws
  {
    let gate = Gate()
    let seen = Lock<[String]>([])
    // More than fits into the pipe and the buffer of lines.
    let count = 50_000
    let operation = ProcessOperation("seq", "\(count)").sendingOutput(to: .kept(first: 0))
      .onOutputLine { line in
        let isFirst = seen.withLock { seen in
          seen.append(line)
          return seen.count == 1
        }
        if isFirst { try await gate.pass() }
      }
    let run = operation.start()
    await gate.waitForArrivals(1)
    gate.open()
    let result = try await run.outcome.get()
    #expect(seen.withLock { $0 } == (1...count).map { "\($0)" })
    #expect(result.output.bytes.isEmpty)
  }

  @Test func `X4: lines of both outputs are passed on one at a time`() async throws {
    let isBusy = Lock(false)
    let count = Lock(0)
    let handle: @Sendable (String) async throws -> Void = { _ in
      let wasBusy = isBusy.withLock { isBusy in
        defer { isBusy = true }
        return isBusy
      }
      #expect(!wasBusy)
      await Task.yield()
      isBusy.withLock { $0 = false }
      count.withLock { $0 += 1 }
    }
    _ = try await shell("seq 1000 & seq 1000 >&2; wait")
      .onOutputLine(handle).onErrorLine(handle).run().get()
    #expect(count.withLock { $0 } == 2_000)
  }

  @Test func `an error of a line handler ends the program and is the error of the run`()
    async throws
  {
    struct Refused: Error {}
    let launched = Lock<Int32>(0)
    let operation = shell("echo line; sleep 3600")
      .onLaunch { process in launched.withLock { $0 = process.processIdentifier } }
      .onOutputLine { _ in throw Refused() }
    await #expect(throws: Refused.self) { try await operation.run().get() }
    let identifier = launched.withLock { $0 }
    #expect(identifier > 0)
    #expect(!isAlive(identifier))
    // The same applies if the program ends before the last line is passed on.
    let late = ProcessOperation("printf", "no end").onOutputLine { _ in throw Refused() }
    await #expect(throws: Refused.self) { try await late.run().get() }
  }

  @Test func `the last destination of standard output applies`() async throws {
    let lines = Lock(0)
    let count: @Sendable (String) async throws -> Void = { _ in lines.withLock { $0 += 1 } }
    let echo = ProcessOperation("echo", "line")
    let handed = try await echo.sendingOutput(to: .discarded).onOutputLine(count).run().get()
    #expect(lines.withLock { $0 } == 1)
    #expect(handed.output.bytes.isEmpty)
    _ = try await echo.onOutputLine(count).sendingOutput(to: .discarded).run().get()
    #expect(lines.withLock { $0 } == 1)
    let kept = echo.onOutputLine(count).sendingOutput(to: .kept(first: 2))
    #expect(try await kept.run().get().output.text == "li")
    #expect(lines.withLock { $0 } == 2)
  }

  @Test func `the last destination of standard error applies, merged or not`() async throws {
    let folder = try TestFolder()
    let file = folder.path(of: "file")
    let lines = Lock<[String]>([])
    let script = shell("echo out; echo told >&2")
    let hand: @Sendable (String) async throws -> Void = { line in
      lines.withLock { $0.append(line) }
    }
    let handed = try await script.mergingErrorOutput().onErrorLine(hand).run().get()
    #expect(handed.output.text == "out\n")
    #expect(lines.withLock { $0 } == ["told"])
    let kept = script.mergingErrorOutput().sendingErrorOutput(to: .kept(first: 2))
    #expect(try await kept.run().get().errorOutput.text == "to")
    for before in [script.onErrorLine(hand), script.sendingErrorOutput(to: .file(file))] {
      let merged = try await before.mergingErrorOutput().run().get()
      #expect(merged.output.text == "out\ntold\n")
    }
    #expect(lines.withLock { $0 } == ["told"])
    #expect(!FileManager.default.fileExists(atPath: file))
  }
}
