import CompositeOperations
import CompositeOperationsFoundation
import Foundation
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

  private func outputError(of operation: ProcessOperation) async throws -> ProcessOutputError {
    try await #require(throws: ProcessOutputError.self) { try await operation.run().get() }
  }
}
