import CompositeOperations
import CompositeOperationsTestKit
import Foundation
import HTTPOperations
import OperationTracing
import Testing

@Suite(.timeLimit(.minutes(10))) struct StreamTests {
  @Test func `every run is sent when it has ended, and active runs at the end`() async throws {
    let receiver = try Receiver()
    let stream = OpenTelemetryStream(to: OpenTelemetryExporter(to: receiver.url))
    async let posting: Void = stream.run()
    await run(1, observedBy: stream)
    // The run is sent although the stream has not finished.
    await receiver.waitForRequests(1)
    await run(3, observedBy: stream)
    let gate = Gate()
    let active = SimpleOperation { try await gate.pass() }.named("goes on")
      .observed(by: stream).start()
    await gate.waitForArrivals(1)
    stream.finish(within: .seconds(600))
    await posting
    active.cancel()
    #expect(try names(in: receiver.requests) == ["0", "0", "1", "2", "goes on"])
    #expect(stream.droppedCount == 0)
    #expect(stream.lastError == nil)
  }

  @Test func `runs that do not fit into the queue are dropped and counted`() async throws {
    let held = HeldResponse()
    let receiver = try Receiver(.init(condition: held))
    let stream = OpenTelemetryStream(
      to: OpenTelemetryExporter(to: receiver.url, session: .longTimeout), capacity: 10,
      batchLimit: 4)
    async let posting: Void = stream.run()
    await run(1, observedBy: stream)
    await receiver.waitForRequests(1)
    await run(15, observedBy: stream)
    #expect(stream.droppedCount == 5)
    held.release()
    stream.finish(within: .seconds(600))
    await posting
    #expect(try names(in: receiver.requests) == ["0"] + (0..<10).map { "\($0)" })
    #expect(receiver.requests.count == 4)
  }

  @Test func `runs that the collector refuses are counted, and later runs are sent`() async throws {
    let receiver = try Receiver(.init(status: 400, body: "no"), .init())
    let stream = OpenTelemetryStream(to: OpenTelemetryExporter(to: receiver.url), batchLimit: 2)
    await run(4, observedBy: stream)
    stream.finish(within: .seconds(600))
    await stream.run()
    #expect(stream.droppedCount == 2)
    #expect(
      (stream.lastError as? OpenTelemetryExportError)?.description.hasSuffix("400: no") == true)
    #expect(try names(in: receiver.requests) == ["0", "1", "2", "3"])
  }

  @Test func `V14: a collector that never answers delays the end by 5 seconds at most`()
    async throws
  {
    let held = HeldResponse()
    let receiver = try Receiver(.init(condition: held))
    let clock = ManualClock()
    let stream = OpenTelemetryStream(
      to: OpenTelemetryExporter(
        to: receiver.url, session: .longTimeout, in: OperationEnvironment(clock: clock)),
      batchLimit: 2)
    await run(5, observedBy: stream)
    let hasEnded = Lock(false)
    async let posting: Void = {
      await stream.run()
      hasEnded.withLock { $0 = true }
    }()
    await receiver.waitForRequests(1)
    stream.finish()
    // A later call does not change the limit.
    stream.finish(within: .zero)
    await clock.waitForSleepers(1)
    clock.advance(by: .milliseconds(4_999))
    #expect(clock.sleeperCount == 1)
    #expect(!hasEnded.withLock { $0 })
    clock.advance(by: .milliseconds(1))
    await posting
    #expect(stream.droppedCount == 5)
    let error = try #require(stream.lastError as? OpenTelemetryExportError)
    guard case .tooSlow(.seconds(5)) = error.reason else { throw error }
    #expect(error.description.contains("has not accepted all runs within 5 s"))
    #expect(receiver.requests.count == 1)
    held.release()
  }

  @Test func `V14: retries of an exporter end with the limit, and what was sent is not counted`()
    async throws
  {
    let receiver = try Receiver(.init(), .init(status: 503))
    let clock = ManualClock()
    let stream = OpenTelemetryStream(
      to: OpenTelemetryExporter(to: receiver.url, in: OperationEnvironment(clock: clock)),
      batchLimit: 2)
    await run(5, observedBy: stream)
    stream.finish(within: .milliseconds(10))
    async let posting: Void = stream.run()
    // The limit, and the delay before the first retry of the second batch.
    await clock.waitForSleepers(2)
    clock.advance(by: .milliseconds(10))
    await posting
    #expect(stream.droppedCount == 3)
    #expect("\(stream.lastError as Any)".contains("within 10 ms"))
  }

  @Test func `V14: an export of a trace ends with its limit`() async throws {
    let held = HeldResponse()
    let receiver = try Receiver(.init(condition: held))
    let clock = ManualClock()
    let exporter = OpenTelemetryExporter(
      to: receiver.url, session: .longTimeout, in: OperationEnvironment(clock: clock))
    let recorder = TraceRecorder()
    _ = await SimpleOperation {}.observed(by: recorder).run()
    let trace = recorder.trace
    let exported = Task { try await exporter.export(trace, within: .seconds(5)) }
    await receiver.waitForRequests(1)
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(5))
    await #expect(throws: OpenTelemetryExportError.self) { try await exported.value }
    held.release()
    let answering = try Receiver()
    try await OpenTelemetryExporter(to: answering.url).export(trace, within: .seconds(600))
    #expect(answering.requests.count == 1)
  }

  @Test func `a cancelled stream ends immediately and counts the remaining runs`() async throws {
    let held = HeldResponse()
    let receiver = try Receiver(.init(condition: held))
    let stream = OpenTelemetryStream(
      to: OpenTelemetryExporter(to: receiver.url, session: .longTimeout), batchLimit: 1)
    await run(3, observedBy: stream)
    let posting = Task { await stream.run() }
    await receiver.waitForRequests(1)
    posting.cancel()
    await posting.value
    #expect(stream.droppedCount == 3)
    held.release()
  }
}
