import CompositeOperations
import CompositeOperationsTestKit
import OperationTracing
import Testing

@Suite struct LinkedTraceTests {
  private let parent = TraceParent()

  /// An operation with a child whose operations belong to the trace of a link.
  private struct Linking: ComposableOperation {
    let link: TraceLink
    let body: SimpleOperation<Void>

    func perform(in context: OperationContext) async throws {
      try await context.linked(by: link).run(body.named("linked"))
      try await context.run(SimpleOperation {}.named("outside"))
    }
  }

  private func spans(
    of recorder: TraceRecorder
  ) throws -> [String: OpenTelemetryRequest.Span] {
    let spans = try OpenTelemetryRequest(recorder.trace.openTelemetryJSON).spans
    return Dictionary(uniqueKeysWithValues: spans.map { ($0.name, $0) })
  }

  @Test func `runs with a link are below its span, and other runs keep their trace`() async throws {
    let recorder = TraceRecorder()
    let body = SimpleOperation.withContext { context in
      _ = try await context.run(
        ParallelOperation([1, 2].map { number in SimpleOperation {}.named("child \(number)") })
          .named("children"))
    }
    _ = await Linking(link: TraceLink(below: parent), body: body).named("root")
      .observed(by: recorder).run()
    let spans = try spans(of: recorder)
    let (root, linked) = (try #require(spans["root"]), try #require(spans["linked"]))
    #expect(root.traceId != parent.traceID && root.parentSpanId == nil)
    #expect(spans["outside"]?.traceId == root.traceId)
    #expect(spans["outside"]?.parentSpanId == root.spanId)
    #expect(linked.traceId == parent.traceID && linked.parentSpanId == parent.spanID.text)
    let children = try #require(spans["children"])
    #expect(children.traceId == parent.traceID && children.parentSpanId == linked.spanId)
    for number in [1, 2] {
      let child = try #require(spans["child \(number)"])
      #expect(child.traceId == parent.traceID && child.parentSpanId == children.spanId)
    }
    #expect(Set(spans.values.map(\.spanId)).count == spans.count)
    // Other formats do not depend on the link.
    let parents = recorder.trace.spans.map { $0.parent == nil }
    #expect(parents.filter { $0 }.count == 1)
  }

  @Test func `an observer of a run inside sees it below the span of the link`() async throws {
    let (outer, recorder) = (TraceRecorder(), TraceRecorder())
    let body = SimpleOperation.withContext { context in
      try await context.run(SimpleOperation {}.named("inner").observed(by: recorder))
    }
    for observers in [[], [outer]] {
      let environment = OperationEnvironment(observers: observers)
      _ = await Linking(link: TraceLink(below: parent), body: body).run(in: environment)
    }
    let spans = try OpenTelemetryRequest(recorder.trace.openTelemetryJSON).spans
    #expect(spans.count == 2)
    for span in spans {
      #expect(span.traceId == parent.traceID && span.parentSpanId == parent.spanID.text)
    }
  }

  @Test(arguments: [nil, TraceParent.SpanID()])
  func `a run that completes its link is the span of the link`(
    grandparent: TraceParent.SpanID?
  ) async throws {
    let recorder = TraceRecorder()
    let whole = TraceLink.Whole(below: grandparent, began: 1_000)
    for isComplete in [false, true] {
      let link = TraceLink(partOf: parent, whole: whole)
      let content = TraceLink(below: parent)
      let body = SimpleOperation.withContext { context in
        try await context.linked(by: content).run(SimpleOperation {}.named("step"))
        if isComplete { link.complete() }
      }
      _ = await Linking(link: link, body: body).observed(by: recorder).run()
    }
    let spans = try OpenTelemetryRequest(recorder.trace.openTelemetryJSON).spans
    let claims = spans.filter { $0.name == "linked" }
    let (part, last) = (try #require(claims.first), try #require(claims.last))
    #expect(part.parentSpanId == parent.spanID.text && part.spanId != parent.spanID.text)
    #expect(last.spanId == parent.spanID.text && last.parentSpanId == grandparent?.text)
    #expect(last.startTimeUnixNano == "1000000000")
    let steps = spans.filter { $0.name == "step" }
    #expect(steps.count == 2 && steps.allSatisfy { $0.parentSpanId == parent.spanID.text })
    #expect(Set((claims + steps).map(\.traceId)) == [parent.traceID])
    #expect(Set(spans.map(\.spanId)).count == spans.count)
  }
}
