import CompositeOperations
import CompositeOperationsTestKit
import Foundation
import HTTPOperations
import LoopbackServer
import OperationTracing
import Testing

@Suite(.timeLimit(.minutes(10))) struct ExporterTests {
  @Test func `a trace is posted as JSON to the path of the protocol`() async throws {
    let receiver = try Receiver()
    let exporter = OpenTelemetryExporter(
      to: receiver.url, headers: ["Authorization": "Bearer x"], service: "tests")
    try await exporter.export(await trace(of: 3))
    let request = try #require(receiver.requests.first)
    #expect(request.head.hasPrefix("POST /v1/traces HTTP/1.1\r\n"))
    let head = request.head.lowercased()
    #expect(head.contains("\r\ncontent-type: application/json\r\n"))
    #expect(head.contains("\r\nauthorization: bearer x\r\n"))
    #expect(try names(in: receiver.requests) == ["0", "1", "2"])
    #expect(String(decoding: request.body, as: UTF8.self).contains(#"{"stringValue":"tests"}"#))
  }

  @Test func `a trace of many runs is posted in several requests`() async throws {
    let receiver = try Receiver()
    try await OpenTelemetryExporter(to: receiver.url).export(await trace(of: 2_500))
    #expect(receiver.requests.count == 3)
    #expect(try names(in: receiver.requests) == (0..<2_500).map { "\($0)" })
  }

  @Test func `an empty trace is not posted`() async throws {
    let receiver = try Receiver()
    try await OpenTelemetryExporter(to: receiver.url).export(TraceRecorder().trace)
    #expect(receiver.requests.isEmpty)
  }

  @Test func `a refused export is an error with the status and the beginning of the body`()
    async throws
  {
    let receiver = try Receiver(
      .init(status: 400, body: "no such field" + String(repeating: "!", count: 900)))
    let error = try await #require(throws: OpenTelemetryExportError.self) {
      try await OpenTelemetryExporter(to: receiver.url).export(await trace(of: 1))
    }
    guard case .refused(let status, let body) = error.reason else {
      throw error
    }
    #expect(status == 400)
    #expect(body.hasPrefix("no such field!!!"))
    #expect(body.utf8.count == 500)
    #expect(
      error.description.hasPrefix(
        "The collector at \(receiver.url)/v1/traces returned status 400: no"))
    #expect(receiver.requests.count == 1)
  }

  @Test(arguments: [#""7""#, "7"])
  func `spans that the collector rejects are an error`(count: String) async throws {
    let receiver = try Receiver(
      .init(body: #"{"partialSuccess":{"rejectedSpans":\#(count),"errorMessage":"too old"}}"#))
    let error = try await #require(throws: OpenTelemetryExportError.self) {
      try await OpenTelemetryExporter(to: receiver.url).export(await trace(of: 1))
    }
    #expect(error.description.hasSuffix("rejected 7 spans: too old"))
    #expect(receiver.requests.count == 1)
  }

  @Test(arguments: [#"{"partialSuccess":{}}"#, #"{"partialSuccess":{"errorMessage":"slow"}}"#, ""])
  func `a response that rejects no spans is not an error`(body: String) async throws {
    let receiver = try Receiver(.init(body: body))
    try await OpenTelemetryExporter(to: receiver.url).export(await trace(of: 1))
    #expect(receiver.requests.count == 1)
  }

  @Test(arguments: [429, 502, 503, 504])
  func `a temporary refusal is retried, no earlier than Retry-After allows`(status: Int)
    async throws
  {
    let receiver = try Receiver(
      .init(status: status, headers: ["Retry-After: 60"]),
      .init(
        status: status,
        headers: [
          "Date: Sun, 22 Nov 2026 10:00:00 GMT", "Retry-After: Sun, 22 Nov 2026 10:02:00 GMT",
        ]),
      .init())
    let clock = ManualClock()
    let waits = RecordingObserver()
    let exporter = OpenTelemetryExporter(
      to: receiver.url, in: OperationEnvironment(clock: clock, observers: [waits]))
    let trace = await trace(of: 1)
    async let export: Void = exporter.export(trace)
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(60))
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(120))
    try await export
    let delays = waits.events.compactMap { event in
      if case .retryScheduled(_, let delay, _) = event.kind { delay } else { nil }
    }
    #expect(delays == [.seconds(60), .seconds(120)])
    #expect(receiver.requests.count == 3)
  }

  @Test func `the last error is thrown after five attempts`() async throws {
    let receiver = try Receiver(.init(status: 503, body: "full"))
    let clock = ManualClock()
    let exporter = OpenTelemetryExporter(to: receiver.url, in: OperationEnvironment(clock: clock))
    let trace = await trace(of: 1)
    let export = Task { try await exporter.export(trace) }
    for _ in 0..<4 {
      await clock.waitForSleepers(1)
      clock.advance(by: .seconds(30))
    }
    let error = try await #require(throws: OpenTelemetryExportError.self) {
      try await export.value
    }
    #expect(error.description.hasSuffix("returned status 503: full"))
    #expect(receiver.requests.count == 5)
  }

  @Test(
    .timeLimit(.minutes(10)),
    arguments: [
      LoopbackResponse(401, headers: [#"WWW-Authenticate: Basic realm="x""#], "who are you?"),
      LoopbackResponse(302, headers: ["Location: /elsewhere"], "go elsewhere"),
    ])
  func `a request for authentication and a redirect are errors`(response: LoopbackResponse)
    async throws
  {
    let server = try LoopbackServer(response)
    let error = try await #require(throws: OpenTelemetryExportError.self) {
      try await OpenTelemetryExporter(to: server.url()).export(trace(of: 1))
    }
    #expect(error.description.contains("returned status \(response.status)"))
    #expect(server.requests.count == 1)
  }

  @Test func `a collector that cannot be reached is an error that names it`() async throws {
    let clock = ManualClock()
    let url = try #require(URL(string: "http://127.0.0.1:1"))
    let exporter = OpenTelemetryExporter(to: url, in: OperationEnvironment(clock: clock))
    let trace = await trace(of: 1)
    let export = Task { try await exporter.export(trace) }
    for _ in 0..<4 {
      await clock.waitForSleepers(1)
      clock.advance(by: .seconds(30))
    }
    let error = try await #require(throws: OpenTelemetryExportError.self) {
      try await export.value
    }
    #expect(error.description.hasPrefix("The collector at http://127.0.0.1:1/v1/traces cannot be"))
  }

  @Test func `a cancelled export ends immediately`() async throws {
    let held = HeldResponse()
    let receiver = try Receiver(.init(condition: held))
    let exporter = OpenTelemetryExporter(to: receiver.url, session: .longTimeout)
    let trace = await trace(of: 1)
    let export = Task { try await exporter.export(trace) }
    await receiver.waitForRequests(1)
    export.cancel()
    await #expect(throws: CancellationError.self) { try await export.value }
    held.release()
    #expect(receiver.requests.count == 1)
  }
}

/// The trace of a number of runs, whose names are their indices.
func trace(of count: Int) async -> OperationTrace {
  let recorder = TraceRecorder()
  await run(count, observedBy: recorder)
  return recorder.trace
}

/// Runs a number of operations, whose names are their indices.
func run(_ count: Int, observedBy observer: some OperationObserver) async {
  for index in 0..<count {
    _ = await SimpleOperation {}.named("\(index)").observed(by: observer).run()
  }
}

/// The names of all spans in the requests, in order.
func names(in requests: [Receiver.Request]) throws -> [String] {
  struct Request: Decodable {
    struct ResourceSpans: Decodable { let scopeSpans: [ScopeSpans] }
    struct ScopeSpans: Decodable { let spans: [Span] }
    struct Span: Decodable { let name: String }
    let resourceSpans: [ResourceSpans]
  }
  return try requests.flatMap { request in
    try JSONDecoder().decode(Request.self, from: request.body).resourceSpans
      .flatMap(\.scopeSpans).flatMap(\.spans).map(\.name)
  }
}
