import CompositeOperations
import CompositeOperationsTestKit
import Foundation
import HTTPOperations
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
    stream.finish()
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
    stream.finish()
    await posting
    #expect(try names(in: receiver.requests) == ["0"] + (0..<10).map { "\($0)" })
    #expect(receiver.requests.count == 4)
  }

  @Test func `runs that the collector refuses are counted, and later runs are sent`() async throws {
    let receiver = try Receiver(.init(status: 400, body: "no"), .init())
    let stream = OpenTelemetryStream(to: OpenTelemetryExporter(to: receiver.url), batchLimit: 2)
    await run(4, observedBy: stream)
    stream.finish()
    await stream.run()
    #expect(stream.droppedCount == 2)
    #expect(
      (stream.lastError as? OpenTelemetryExportError)?.description.hasSuffix("400: no") == true)
    #expect(try names(in: receiver.requests) == ["0", "1", "2", "3"])
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
