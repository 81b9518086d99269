internal import CompositeOperations
internal import SystemSupport

/// An encoder for OpenTelemetry's protocol as JSON. Each block is an `ExportTraceServiceRequest` on
/// one line.
///
/// It follows the rules of the
/// [protocol](https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding) and of its
/// [files](https://opentelemetry.io/docs/specs/otel/protocol/file-exporter/): names in lower camel
/// case, identifiers in hexadecimal digits, 64-bit integers as strings, enumerations as numbers.
package struct OpenTelemetryEncoder: TraceEncoder {
  /// The version that a collector shows beside the name of this library.
  static let version = PackageVersion.current

  private let service: String
  private let seed: TraceSeed
  /// Nanoseconds since 1970-01-01, UTC.
  private let beginning: Int64

  package init(service: String, seed: TraceSeed, beginning: Int64) {
    self.service = service
    self.seed = seed
    self.beginning = beginning
  }

  package mutating func block(of steps: [TraceAssembler.Step], now: Duration) -> [UInt8] {
    var json = JSONWriter()
    request(in: &json) { json in
      for step in steps {
        switch step {
        case .nothing: break
        case .ended(let span): add(span, now: now, to: &json)
        case .note(let note, let id, let outermost, let link):
          add(note, of: id, below: outermost, by: link, to: &json)
        }
      }
    }
    json.raw("\n")
    return json.bytes
  }

  package mutating func ending() -> [UInt8] { [] }

  /// Encodes one request, without a line break.
  package func request(
    of spans: some Sequence<OperationTrace.Span>, now: Duration
  ) -> [UInt8] {
    var json = JSONWriter()
    request(in: &json) { json in for span in spans { add(span, now: now, to: &json) } }
    return json.bytes
  }

  private func request(in json: inout JSONWriter, spans: (inout JSONWriter) -> Void) {
    json.object { json in
      json.objects("resourceSpans") { json in
        json.name("resource")
        json.object { $0.attributes([("service.name", .text(service))]) }
        json.objects("scopeSpans") { json in
          json.name("scope")
          json.object { json in
            json.member("name", "CompositeOperations")
            json.member("version", Self.version)
          }
          json.name("spans")
          json.array(spans)
        }
      }
    }
  }

  private func add(_ span: OperationTrace.Span, now: Duration, to json: inout JSONWriter) {
    json.object { json in
      json.member("traceId", traceID(of: span.outermost, by: span.link))
      json.member("spanId", spanID(of: span.id, by: span.link, isWhole: span.whole != nil))
      if let parent = parentID(of: span) { json.member("parentSpanId", parent) }
      json.member("name", span.name)
      json.member("kind", Self.kind(of: span))
      json.member("startTimeUnixNano", start(of: span))
      json.member("endTimeUnixNano", moment(span.ended ?? now))
      json.attributes(attributes(of: span, now: now))
      json.name("events")
      json.array { json in
        for wait in span.waits { add(wait, to: &json) }
        for note in span.notes { add(note, to: &json) }
      }
      json.name("status")
      json.object { json in
        guard let error = span.error else { return }
        json.member("code", Self.statusError)
        // Every composite repeats the errors of its children, so a long list makes a long message.
        json.member("message", error.clipped(to: 4_000))
      }
    }
  }

  private func attributes(
    of span: OperationTrace.Span, now: Duration
  ) -> [(key: String, value: OperationAttribute)] {
    var attributes: [(key: String, value: OperationAttribute)] = [
      ("operation.id", .integer(Int(truncatingIfNeeded: span.id.number))),
      ("operation.attempt", .integer(span.attempt)),
      ("operation.outcome", .text(span.outcome)),
    ]
    if let reason = span.reason {
      attributes.append(("operation.cancellation.reason", .text(reason)))
    }
    if !span.waits.isEmpty {
      attributes += [
        ("operation.waits", .texts(span.waits.map { "\($0.kind)" })),
        ("operation.waiting_seconds", .number(span.waited(now: now) / .seconds(1))),
      ]
    }
    return attributes + span.attributes.sortedByName.filter { $0.key != Self.kindName }
  }

  private func add(_ wait: OperationTrace.Wait, to json: inout JSONWriter) {
    json.object { json in
      json.member("timeUnixNano", moment(wait.began))
      json.member("name", "waits for \(wait.kind)")
      guard let ended = wait.ended else { return }
      json.attributes([("operation.waiting_seconds", .number((ended - wait.began) / .seconds(1)))])
    }
  }

  private func add(_ note: OperationTrace.Note, to json: inout JSONWriter) {
    json.object { json in
      json.member("timeUnixNano", moment(note.time))
      json.member("name", note.text)
      if let level = note.level { json.attributes([("log.severity", .text("\(level)"))]) }
    }
  }

  /// Adds an event after the end of its run, as a span without duration below the run. The span of
  /// the run has already been written.
  private func add(
    _ note: OperationTrace.Note, of id: OperationID, below outermost: OperationID,
    by link: TraceLink?, to json: inout JSONWriter
  ) {
    json.object { json in
      json.member("traceId", traceID(of: outermost, by: link))
      json.member("spanId", seed.spanID(of: id, at: note.time.inNanoseconds))
      json.member("parentSpanId", spanID(of: id, by: link, isWhole: link?.completed != nil))
      json.member("name", note.text)
      json.member("kind", Self.kindInternal)
      json.member("startTimeUnixNano", moment(note.time))
      json.member("endTimeUnixNano", moment(note.time))
      if let level = note.level { json.attributes([("log.severity", .text("\(level)"))]) }
    }
  }

  private func traceID(of outermost: OperationID, by link: TraceLink?) -> String {
    link?.span.traceID ?? seed.traceID(of: outermost)
  }

  /// - Parameter isWhole: Whether the run is the whole span of its link.
  private func spanID(of id: OperationID, by link: TraceLink?, isWhole: Bool) -> String {
    if isWhole, let link { return link.span.spanID.text }
    return seed.spanID(of: id)
  }

  private func parentID(of span: OperationTrace.Span) -> String? {
    if let whole = span.whole { return whole.parent?.text }
    if span.isBelowLink, let link = span.link { return link.span.spanID.text }
    return span.parent.map { seed.spanID(of: $0) }
  }

  private func start(of span: OperationTrace.Span) -> String {
    let created = beginning + span.created.inNanoseconds
    guard let whole = span.whole else { return "\(created)" }
    let (began, isTooLarge) = whole.began.multipliedReportingOverflow(by: 1_000_000)
    return "\(isTooLarge ? created : min(created, began))"
  }

  private func moment(_ time: Duration) -> String { "\(beginning + time.inNanoseconds)" }

  private static func kind(of span: OperationTrace.Span) -> Int {
    guard case .text(let kind) = span.attributes[kindName] else { return kindInternal }
    return ["server": 2, "client": 3, "producer": 4, "consumer": 5][kind] ?? kindInternal
  }

  /// The attribute that is the kind of the span.
  private static let kindName = "span.kind"
  /// `SPAN_KIND_INTERNAL`.
  private static let kindInternal = 1
  /// `STATUS_CODE_ERROR`.
  private static let statusError = 2
}
