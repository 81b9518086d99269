import CompositeOperations
import CompositeOperationsTestKit
import OperationTracing
import Testing

@Suite struct AttributeTests {
  /// Sets every kind of value, and one of them twice.
  private static let operation = SimpleOperation<Void>.withContext { context in
    context.setAttributes([
      "text": "a \"quoted\"\n</script> one", "integer": -7, "number": 0.5, "flag": true,
      "texts": ["a", "b"], "changed": 1,
    ])
    context.setAttributes(["changed": 2, "endless": .number(.infinity), "none": .number(.nan)])
  }

  private func trace(of operation: some ComposableOperation) async -> OperationTrace {
    let recorder = TraceRecorder()
    _ = await operation.run(in: OperationEnvironment(observers: [recorder]))
    return recorder.trace
  }

  @Test func `V15: attributes that a body sets are events while it runs and is observed`() async {
    let recorder = RecordingObserver()
    let (kept, evaluations) = (Log<OperationContext>(), Log<String>())
    let operation = SimpleOperation.withContext { context in
      context.setAttributes(["a": .text(evaluations.adding("evaluated"))])
      kept.add(context)
    }
    _ = await operation.run(in: OperationEnvironment(observers: [recorder]))
    #expect(evaluations.entries.count == 1)
    _ = await operation.run()
    for context in kept.entries {
      context.setAttributes(["late": .text(evaluations.adding("evaluated"))])
    }
    #expect(evaluations.entries.count == 1)
    let sets = recorder.events.map(\.what).filter { $0.hasPrefix("set") }
    #expect(sets == ["set a=evaluated"])
  }

  @Test func `V15: a trace has the last value of each attribute`() async throws {
    let span = try #require(await trace(of: Self.operation).spans.first)
    #expect(span.attributes.count == 8 && span.droppedCount == 0)
    #expect(span.attributes["changed"] == 2 && span.attributes["integer"] == -7)
    #expect(span.attributes["texts"] == ["a", "b"] && span.attributes["flag"] == true)
    #expect(span.notes.isEmpty)
  }

  @Test func `V15: a trace keeps 100 attributes of a run, and counts the others`() async throws {
    let operation = SimpleOperation.withContext { context in
      for index in 0..<150 { context.setAttributes(["\(index)": 1]) }
      context.setAttributes(["0": 2, "149": 2])
    }
    let span = try #require(await trace(of: operation).spans.first)
    #expect(span.attributes.count == 100 && span.droppedCount == 51)
    #expect(span.attributes["0"] == 2 && span.attributes["99"] == 1)
    #expect(span.attributes["100"] == nil)
  }

  @Test func `V15: attributes are exported to OpenTelemetry with their types`() async throws {
    let text = await trace(of: Self.operation).openTelemetryJSON
    let span = try #require(try OpenTelemetryRequest(text).spans.first)
    #expect(span.kind == 1)
    let shown = span.attributes.map { "\($0.key)=\($0.value.text ?? "?")" }
    #expect(
      shown.filter { !$0.hasPrefix("operation.") } == [
        "changed=2", "endless=inf", "flag=true", "integer=-7", "none=nan", "number=0.5",
        "text=a \"quoted\"\n</script> one", "texts=a, b",
      ])
    #expect(text.contains(#"{"key":"flag","value":{"boolValue":true}}"#))
    #expect(text.contains(#"{"key":"endless","value":{"doubleValue":"Infinity"}}"#))
  }

  @Test(arguments: [("client", 3), ("server", 2), ("producer", 4), ("consumer", 5), ("x", 1)])
  func `V15: the attribute span.kind is the kind of the exported span`(
    kind: String, number: Int
  ) async throws {
    let operation = SimpleOperation.withContext { $0.setAttributes(["span.kind": .text(kind)]) }
    let request = try OpenTelemetryRequest(await trace(of: operation).openTelemetryJSON)
    #expect(request.spans.map(\.kind) == [number])
    #expect(request.spans.first?["span.kind"] == nil)
  }

  @Test func `V15: attributes are shown in Chrome's format and on the page`() async throws {
    let trace = await trace(of: Self.operation)
    let run = try #require(try ChromeEvents(trace.chromeJSON).runs.first)
    let attributes = try #require(run.args.attributes)
    #expect(attributes.count == 8)
    #expect(attributes["changed"] == "2" && attributes["flag"] == "true")
    #expect(attributes["texts"] == "a, b" && attributes["endless"] == "Infinity")
    let page = try TimelineContents(of: trace)
    let texts = page.attributes.map { page.texts[$0] }
    #expect(page.attributes.count == 24 && page.attributes[0] == 0)
    #expect(
      texts[1...2] == ["changed", "2"] && texts[19...20] == ["text", "a \"quoted\"\n</script> one"])
  }
}

extension Log<String> {
  /// Adds an entry and returns it.
  fileprivate func adding(_ entry: String) -> String {
    add(entry)
    return entry
  }
}
