import CompositeOperations
import CompositeOperationsTestKit
import OperationTracing
import Testing

@Suite struct OpenTelemetryFormatTests {
  @Test func `a run is a span with its times, its attempt and its outcome`() async throws {
    let trace = await TraceScene.trace
    let request = try OpenTelemetryRequest(trace.openTelemetryJSON)
    #expect(request.spans.count == trace.spans.count)
    for (span, expected) in zip(request.spans, trace.spans) {
      #expect(span.name == expected.name)
      #expect(span.kind == 1)
      let nanoseconds = expected.created / .nanoseconds(1)
      #expect(span.startTimeUnixNano == "\(trace.beginning + Int64(nanoseconds))")
      #expect((Int64(span.endTimeUnixNano) ?? 0) > (Int64(span.startTimeUnixNano) ?? 0))
      #expect(span["operation.attempt"] == "\(expected.attempt)")
      #expect(span["operation.id"].map { "#\($0)" } == "\(expected.id)")
    }
    let spans = Dictionary(request.spans.map { ($0.name, $0) }) { _, last in last }
    let failed = try #require(spans[TraceScene.oddText])
    #expect(failed["operation.outcome"] == "error")
    #expect(failed.status?.code == 2)
    #expect(failed.status?.message == TraceScene.oddText)
    let stopped = try #require(spans["stops"])
    #expect(stopped["operation.outcome"] == "cancelled")
    #expect(stopped.status?.code == nil)
    #expect(spans["logs"]?["operation.outcome"] == "result")
    #expect(spans["tried"]?["operation.attempt"] == "2")
  }

  @Test func `the resource has the name of the program, and the scope has the name of the library`()
    async throws
  {
    let request = try OpenTelemetryRequest(await TraceScene.trace.openTelemetryJSON)
    let resource = try #require(request.resourceSpans.first)
    #expect(resource.resource.attributes.first?.key == "service.name")
    #expect(resource.resource.attributes.first?.value.stringValue?.isEmpty == false)
    #expect(resource.scopeSpans.first?.scope.name == "CompositeOperations")
    let changes = try #require(try Checkout.text(of: "CHANGELOG.md"))
    let newest = changes.split(separator: "\n").first { $0.hasPrefix("## ") }
    #expect(
      newest?.lowercased().contains(resource.scopeSpans.first?.scope.version ?? "-") == true)
  }

  @Test func `waits are attributes and events, and log lines have their severity`() async throws {
    let spans = try OpenTelemetryRequest(await TraceScene.trace.openTelemetryJSON).spans
    let waiting = try #require(spans.first { $0.name == "waits" })
    #expect(waiting["operation.waits"] == "\(Duration.seconds(1))")
    #expect(waiting["operation.waiting_seconds"].flatMap(Double.init).map { $0 > 0 } == true)
    #expect(waiting.events?.first?.name == "waits for \(Duration.seconds(1))")
    let line = try #require(spans.first { $0.name == "logs" }?.events?.first)
    #expect(line.name == TraceScene.oddText)
    #expect(line.attributes?.first?.key == "log.severity")
    #expect(line.attributes?.first?.value.stringValue == "warning")
  }

  @Test
  func `all runs below an outermost run are one trace, and a run always has the same identity`()
    async throws
  {
    let recorder = TraceRecorder()
    await TraceScene.run(observedBy: recorder)
    await TraceScene.run(observedBy: recorder)
    let text = recorder.trace.openTelemetryJSON
    let spans = try OpenTelemetryRequest(text).spans
    #expect(Set(spans.map(\.spanId)).count == spans.count)
    let traces = Dictionary(grouping: spans, by: \.traceId)
    #expect(traces.count == 2)
    for (trace, spans) in traces {
      #expect(trace.count == 32)
      #expect(trace.allSatisfy { "0123456789abcdef".contains($0) })
      #expect(spans.filter { $0.parentSpanId == nil }.map(\.name) == ["root"])
      for span in spans {
        #expect(span.spanId.count == 16)
        #expect(span.spanId.allSatisfy { "0123456789abcdef".contains($0) })
        if let parent = span.parentSpanId { #expect(spans.contains { $0.spanId == parent }) }
      }
    }
    #expect(recorder.trace.openTelemetryJSON == text)
    let other = try OpenTelemetryRequest(await TraceScene.trace.openTelemetryJSON).spans
    #expect(Set(other.map(\.traceId)).isDisjoint(with: traces.keys))
  }

  @Test func `no identity consists only of zeros`() async throws {
    let id = try #require(await TraceScene.trace.spans.first?.id)
    // A seed for which the sum of seed and number is zero. Identifiers are computed from this sum.
    let number = try #require(UInt64("\(id)".dropFirst()))
    let seed = TraceSeed(high: 0 &- number, low: 0 &- number)
    #expect(seed.traceID(of: id) == "00000000000000000000000000000001")
    #expect(TraceSeed(high: 0 &- number, low: 0).spanID(of: id) == "0000000000000001")
  }
}
