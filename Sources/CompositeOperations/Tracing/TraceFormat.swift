/// How a trace is written.
public enum TraceFormat: Sendable, CaseIterable {
  /// Trace events of Chrome, which [Perfetto](https://ui.perfetto.dev) opens too.
  case chrome
  /// OpenTelemetry's protocol as JSON: one `ExportTraceServiceRequest` a line.
  case openTelemetry

  /// The format that the ending of a file's name stands for: `.otlp`, `.otlp.json` and `.otlp.jsonl` for
  /// ``openTelemetry``, any other `.json` for ``chrome``.
  ///
  /// - Returns: Nil for other endings.
  public init?(ofFile path: String) {
    let path = path.lowercased()
    if [".otlp", ".otlp.json", ".otlp.jsonl"].contains(where: path.hasSuffix) {
      self = .openTelemetry
    } else if path.hasSuffix(".json") {
      self = .chrome
    } else {
      return nil
    }
  }
}
