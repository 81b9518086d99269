import CompositeOperations
import CompositeOperationsFoundation
import CompositeOperationsTestKit
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct ProcessOutputErrorTests {
  private static let defaultLimit = 16 << 20

  @Test func `X5: output above the default limit is an error with the bytes up to it`() async throws
  {
    let write = "head -c 20000000 /dev/zero"
    let cases: [(ProcessOperation, ProcessOutputError.Reason, String)] = [
      (shell(write), .outputLimit(Self.defaultLimit), "to standard output"),
      (shell("\(write) >&2"), .errorOutputLimit(Self.defaultLimit), "to standard error"),
      (
        shell("\(write) >&2").mergingErrorOutput(), .outputLimit(Self.defaultLimit),
        "to its outputs"
      ),
    ]
    for (operation, reason, output) in cases {
      let error = try await outputError(of: operation)
      #expect(error.reason == reason)
      let kept =
        if case .errorOutputLimit = reason { error.result.errorOutput } else { error.result.output }
      #expect(kept.bytes == [UInt8](repeating: 0, count: Self.defaultLimit))
      #expect(kept.droppedByteCount > 0)
      #expect(error.description.contains("head -c 20000000 /dev/zero"))
      #expect(error.description.contains("more than 16777216 bytes, the limit, \(output)"))
      #expect(error.localizedDescription == error.description)
    }
  }

  @Test(arguments: [0, 1, 4, 5])
  func `X5: output up to a limit is whole, and one byte more is an error`(limit: Int) async throws {
    let script = shell("printf 01234; printf abcd >&2").sendingOutput(to: .whole(limit: limit))
    if limit == 5 {
      let result = try await script.run().get()
      #expect(result.output.text == "01234" && result.output.droppedByteCount == 0)
    } else {
      let error = try await outputError(of: script)
      #expect(error.reason == .outputLimit(limit))
      #expect(error.result.output.text == "01234".prefix(limit))
      #expect(error.result.output.droppedByteCount == 5 - limit)
    }
    let errors = shell("printf abcd >&2").sendingErrorOutput(to: .whole(limit: limit))
    if limit >= 4 {
      #expect(try await errors.run().get().errorOutput.text == "abcd")
    } else {
      #expect(try await outputError(of: errors).reason == .errorOutputLimit(limit))
    }
  }

  @Test func `X5: a program that writes without end is ended at the limit`() async throws {
    for script in ["yes", "yes >&2", "trap '' TERM; yes"] {
      let operation = shell(script).sendingOutput(to: .whole(limit: 1 << 20))
        .sendingErrorOutput(to: .whole(limit: 1 << 20)).ending(within: .milliseconds(100))
      let error = try await outputError(of: operation)
      #expect(max(error.result.output.bytes.count, error.result.errorOutput.bytes.count) == 1 << 20)
    }
  }

  @Test func `X5: a part that was asked for is a result, whatever was dropped`() async throws {
    let script = shell("head -c 20000000 /dev/zero; head -c 20000000 /dev/zero >&2")
    for part in [ProcessOutput.Destination.kept(first: 7), .kept(last: 7)] {
      let result = try await script.sendingOutput(to: part).sendingErrorOutput(to: part).run().get()
      for output in [result.output, result.errorOutput] {
        #expect(output.bytes.count == 7)
        #expect(output.droppedByteCount == 20_000_000 - 7)
      }
    }
  }

  @Test func `X5: a closure that receives all lines makes no error of the limit`() async throws {
    let count = Lock(0)
    let line = String(repeating: "x", count: 999)
    let result = try await shell("yes \(line) | head -n 20000; yes \(line) | head -n 20000 >&2")
      .onOutputLine { _ in count.withLock { $0 += 1 } }
      .onErrorLine { _ in count.withLock { $0 += 1 } }.run().get()
    #expect(count.withLock { $0 } == 40_000)
    #expect(result.output.bytes.count == Self.defaultLimit)
    #expect(result.output.droppedByteCount == 20_000_000 - Self.defaultLimit)
    #expect(result.errorOutput.bytes.count == 64 << 10)
    let limited = shell("seq 1000").onOutputLine { _ in }.sendingOutput(to: .whole(limit: 10))
    #expect(try await outputError(of: limited).result.output.text == "1\n2\n3\n4\n5\n")
  }

  @Test func `X6: output that a remaining process holds open is an error with what was read`()
    async throws
  {
    let start = ContinuousClock.now
    let script = shell("echo now; sleep 3600 & echo $! >&2")
    let error = try await outputError(of: script)
    #expect(start.duration(to: .now) >= .seconds(5))
    #expect(error.reason == .heldOpen(.seconds(5)))
    #expect(error.result.status == .exited(0))
    #expect(error.result.output.text == "now\n")
    #expect(!error.result.output.isComplete && !error.result.errorOutput.isComplete)
    #expect(
      error.description.contains("after 5 s, a process that it started still holds its output open")
    )
    let left = try #require(error.result.errorOutput.lines.first.flatMap { Int32($0) })
    // The run ends no other process.
    #expect(isAlive(left))
    kill(left, SIGKILL)
  }

  @Test func `X6: the error of a status comes before output that is held open`() async throws {
    let error = try await #require(throws: ProcessExitError.self) {
      try await shell("sleep 3600 & echo $!; exit 3").run().get()
    }
    #expect(error.result.status == .exited(3))
    #expect(!error.result.output.isComplete)
    let left = try #require(error.result.output.lines.first.flatMap { Int32($0) })
    kill(left, SIGKILL)
  }

  @Test func `X6: output that a remaining process writes in time is a part of the result`()
    async throws
  {
    let folder = try TestFolder()
    let fifo = folder.path(of: "fifo")
    #expect(unsafe mkfifo(fifo, 0o600) == 0)
    let writer = opened(fifo, O_RDWR | O_NONBLOCK)
    defer { close(writer) }
    // The child waits until the program, which is the parent of the subshell, has ended.
    let script = shell(
      """
      (read go < "$1"; until grep -q ' Z ' /proc/$$/stat; do sleep 0.01; done; echo late; echo late >&2) &
      echo now
      """, fifo
    ).onOutputLine { line in if line == "now" { #expect(wrote("go\n", to: writer)) } }
    let result = try await script.run().get()
    #expect(result.output.lines == ["now", "late"])
    #expect(result.errorOutput.lines == ["late"])
    #expect(result.output.isComplete && result.errorOutput.isComplete)
  }

  // With the short time, the pipe stays open while the closure waits. With the long one, nothing is lost.
  @Test(arguments: [Duration.milliseconds(1), .seconds(3_600)])
  func `X6: time in which a closure handles lines does not count`(drainTime: Duration) async throws
  {
    let folder = try TestFolder()
    let fifo = folder.path(of: "fifo")
    #expect(unsafe mkfifo(fifo, 0o600) == 0)
    let writer = opened(fifo, O_RDWR | O_NONBLOCK)
    defer { close(writer) }
    let gate = Gate()
    let lines = Lock(0)
    let group = Lock<Int32>(0)
    let run = shell("seq 300000 & read go < \"$1\"", fifo).draining(for: drainTime)
      .onLaunch { process in group.withLock { $0 = process.processIdentifier } }
      .onOutputLine { _ in
        let isFirst = lines.withLock { lines in
          lines += 1
          return lines == 1
        }
        if isFirst { try await gate.pass() }
      }.start()
    await gate.waitForArrivals(1)
    let leader = group.withLock { $0 }
    let isGone = Lock(false)
    // Waits until nothing runs but the writer, which is blocked in 20 samples in a row. It would
    // get SIGPIPE from a pipe that was closed.
    @Sendable func waitForBlockedWriter(_ count: Int) async throws {
      let blockedSamples = Lock(0)
      try await eventually {
        let members = livingMembers(of: leader)
        if !members.contains(where: { $0 != leader }) {
          isGone.withLock { $0 = true }
          return true
        }
        let isStuck = members.count == count && members.allSatisfy { state(of: $0) == "S" }
        return blockedSamples.withLock { samples in
          samples = isStuck ? samples + 1 : 0
          return samples == 20
        }
      }
    }
    try await waitForBlockedWriter(2)
    #expect(wrote("go\n", to: writer))
    try await waitForBlockedWriter(1)
    #expect(!isGone.withLock { $0 })
    gate.open()
    let result = try await run.outcome.get()
    if drainTime > .seconds(1) {
      #expect(lines.withLock { $0 } == 300_000)
      #expect(result.output.isComplete)
    }
  }

  private func outputError(of operation: ProcessOperation) async throws -> ProcessOutputError {
    try await #require(throws: ProcessOutputError.self) { try await operation.run().get() }
  }
}
