internal import CompositeOperations
internal import DurableOperations
internal import Foundation
internal import OperationTracing
internal import PostgresOperations
internal import Testing

@Suite(.enabled(if: PrivateServer.whatIsMissing == nil), .timeLimit(.minutes(10))) struct TraceTests
{
  /// A span of an export.
  private struct Span: Decodable {
    let traceId: String
    let spanId: String
    let parentSpanId: String?
    let name: String
    let startTimeUnixNano: String
    let endTimeUnixNano: String

    static func all(of recorder: TraceRecorder) throws -> [Span] {
      struct Export: Decodable {
        struct Resource: Decodable { let scopeSpans: [Scope] }
        struct Scope: Decodable { let spans: [Span] }
        let resourceSpans: [Resource]
      }
      let export = try JSONDecoder().decode(
        Export.self, from: Data(recorder.trace.openTelemetryJSON.utf8))
      return export.resourceSpans.flatMap(\.scopeSpans).flatMap(\.spans)
    }
  }

  /// A worker with a store, a connection and a trace of its own, as on a machine of its own.
  private struct Machine {
    let recorder = TraceRecorder()
    let worker: OperationRun<Void>

    init(_ queue: TestQueue, running flows: [any DurableSequence.Type]) {
      worker = DurableWorker(in: queue.store(), running: flows).observed(by: recorder).start()
    }

    /// - Returns: The spans of the trace, and not those of the worker itself.
    func spans(of trace: String) async throws -> [Span] {
      worker.cancel()
      _ = await worker.outcome
      let spans = try Span.all(of: recorder)
      #expect(Set(spans.map(\.spanId)).count == spans.count)
      #expect(spans.contains { $0.name.hasPrefix("DurableWorker") && $0.traceId != trace })
      return spans.filter { $0.traceId == trace }
    }
  }

  private func trace(of run: String, in queue: TestQueue) async throws -> (id: String, span: String)
  {
    let text = try await queue.query(
      "select headers->>'traceparent' from absurd.t_default where idempotency_key = '\(run)'")
    let fields = text.split(separator: "-").map { String($0) }
    try #require(fields.count == 4, "\(text)")
    return (fields[1], fields[2])
  }

  @Test func `K10: the parts of a run on two machines, and its child flows, are one trace`()
    async throws
  {
    let queue = try await TestQueue()
    let store = queue.store()
    let run = try await store.start(Relay(), named: "r")
    let other = try await store.start(Leaf(name: "leaf"), named: "other")
    // The first step ends here; the child flow and the rest are for the other machine.
    let first = Machine(queue, running: [Relay.self])
    while try await store.run("r")?.summary.event != "go" {
      try await Task.sleep(for: .milliseconds(10))
    }
    let trace = try await trace(of: "r", in: queue)
    let firstSpans = try await first.spans(of: trace.id)
    #expect(firstSpans.map(\.name).contains("first"))
    // No span is the whole run yet.
    #expect(!firstSpans.contains { $0.spanId == trace.span })

    let second = Machine(queue, running: [Relay.self, Leaf.self])
    try await store.send(7, as: "go", to: "r")
    #expect(try await run.outcome.result == "leaf")
    #expect(try await other.outcome.result == "leaf")
    // The parent has ended after its child, and both have ended before the worker.
    let secondSpans = try await second.spans(of: trace.id)
    let spans = firstSpans + secondSpans
    #expect(Set(spans.map(\.spanId)).count == spans.count)
    let ids = Set(spans.map(\.spanId))
    let roots = spans.filter { $0.parentSpanId == nil }
    #expect(roots.map(\.name) == ["Relay r"] && roots.first?.spanId == trace.span)
    for span in spans {
      if let parent = span.parentSpanId { #expect(ids.contains(parent), "\(span)") }
    }
    for name in ["first", "AwaitedEvent(go)", "Leaf"] {
      let steps = spans.filter { $0.name == name }
      #expect(!steps.isEmpty && steps.allSatisfy { $0.parentSpanId == trace.span }, "\(name)")
    }
    // The child flow has a span of its own in the same trace.
    let child = try await self.trace(of: "child", in: queue)
    #expect(child.id == trace.id && child.span != trace.span)
    #expect(spans.first { $0.spanId == child.span }?.parentSpanId == trace.span)
    #expect(spans.first { $0.name == "leaf" }?.parentSpanId == child.span)
    let root = try #require(roots.first)
    #expect(spans.allSatisfy { $0.startTimeUnixNano >= root.startTimeUnixNano })

    // Another run has another trace.
    let otherTrace = try await self.trace(of: "other", in: queue)
    #expect(otherTrace.id != trace.id)
    let otherSpans = try Span.all(of: second.recorder).filter { $0.traceId == otherTrace.id }
    #expect(otherSpans.contains { $0.name == "leaf" && $0.parentSpanId == otherTrace.span })
    #expect(otherSpans.contains { $0.spanId == otherTrace.span && $0.parentSpanId == nil })
  }

  @Test func `K10: a run that a step starts belongs to the trace of the step's run`()
    async throws
  {
    let queue = try await TestQueue()
    let recorder = TraceRecorder()
    let flow = Starting(address: queue.address)
    let outcome = await DurableOperation(flow, named: "r", in: queue.store())
      .observed(by: recorder).run()
    #expect(outcome.result == "leaf")
    let trace = try await trace(of: "r", in: queue)
    let started = try await self.trace(of: "started", in: queue)
    #expect(started.id == trace.id && started.span != trace.span)
    let spans = try Span.all(of: recorder).filter { $0.traceId == trace.id }
    #expect(spans.first { $0.name == "Starting r" }?.spanId == trace.span)
    let parent = try await queue.query(
      "select headers->>'parentspan' from absurd.t_default where idempotency_key = 'started'")
    #expect(parent == trace.span)
  }

  @Test func `K10: a run that is retried after its end has a new span in the same trace`()
    async throws
  {
    let queue = try await TestQueue()
    let store = queue.store()
    let recorder = TraceRecorder()
    let operation = DurableOperation(Leaf(name: "leaf"), named: "r", in: store)
      .observed(by: recorder)
    #expect(await operation.run().result == "leaf")
    let first = try await trace(of: "r", in: queue)
    try await store.retry("r", from: 0)
    #expect(await operation.run().result == "leaf")
    let second = try await trace(of: "r", in: queue)
    #expect(second.id == first.id && second.span != first.span)
    let claims = try Span.all(of: recorder).filter { $0.name == "Leaf r" }
    #expect(claims.map(\.spanId) == [first.span, second.span])
    #expect(claims.map(\.parentSpanId) == [nil, first.span])
  }

  @Test func `K10: the process that runs a cancelled run exports the span of the run`()
    async throws
  {
    let queue = try await TestQueue()
    let store = queue.store()
    let machine = Machine(queue, running: [LastingFlow.self])
    let run = try await store.start(LastingFlow(milliseconds: 60_000), named: "r")
    while try await store.run("r")?.summary.state != .running {
      try await Task.sleep(for: .milliseconds(10))
    }
    try await store.cancel("r")
    #expect(try await run.outcome.isCancelled)
    // The worker notices it later than the store.
    while machine.recorder.trace.spans.last(where: { $0.name == "LastingFlow r" })?.ended == nil {
      try await Task.sleep(for: .milliseconds(10))
    }
    let trace = try await trace(of: "r", in: queue)
    let spans = try await machine.spans(of: trace.id)
    #expect(spans.first { $0.name == "LastingFlow r" }?.spanId == trace.span)
  }
}

/// A flow with a step, an event, and a child flow.
private struct Relay: DurableSequence {
  private var count = 0

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    if previous != nil { count += 1 }
    switch count {
    case 0: return Deed("first")
    case 1: return AwaitedEvent("go", as: Int.self)
    case 2: return ChildFlow(Leaf(name: "leaf"), named: "child")
    default: return nil
    }
  }

  func output(of steps: FinishedSteps) -> String { steps.last(of: ChildFlow<Leaf>.self) ?? "" }
}

/// A flow whose step starts another run.
private struct Starting: DurableSequence {
  let address: String

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil ? StartLeaf(address: address) : nil
  }

  func output(of steps: FinishedSteps) -> String { steps.last(of: StartLeaf.self) ?? "" }
}

private struct StartLeaf: ComposableOperation {
  let address: String

  func perform(in context: OperationContext) async throws -> String {
    let store = RunStore.postgres(address, queue: "default")
    try await store.start(Leaf(name: "leaf"), named: "started")
    return try await DurableOperation(Leaf(name: "leaf"), named: "started", in: store).run().get()
  }
}
