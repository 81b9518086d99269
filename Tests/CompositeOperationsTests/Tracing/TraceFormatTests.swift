import CompositeOperations
import Testing

@Suite struct TraceFormatTests {
  @Test(arguments: [
    ("trace.json", TraceFormat.chrome), ("a/b.JSON", .chrome), ("trace.otlp", .openTelemetry),
    ("trace.otlp.json", .openTelemetry), ("x.OTLP.jsonl", .openTelemetry), ("trace", nil),
    ("json", nil), ("trace.jsonl", nil), ("trace.txt", nil),
  ])
  func `a format is known by the ending of a file's name`(path: String, format: TraceFormat?) {
    #expect(TraceFormat(ofFile: path) == format)
  }
}
