import CompositeOperations
import OperationTracing
import Testing

@Suite struct TraceFormatTests {
  @Test(arguments: [
    ("trace.json", TraceFormat.chrome), ("a/b.JSON", .chrome), ("trace.otlp", .openTelemetry),
    ("trace.otlp.json", .openTelemetry), ("x.OTLP.jsonl", .openTelemetry), ("trace", nil),
    ("json", nil), ("trace.jsonl", nil), ("trace.txt", nil),
  ])
  func `the format is determined by the suffix of the file name`(path: String, format: TraceFormat?)
  {
    #expect(TraceFormat(ofFile: path) == format)
  }
}
