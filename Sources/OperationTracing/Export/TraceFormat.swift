/// A format of exported traces.
public enum TraceFormat: Sendable, CaseIterable {
  /// Chrome's Trace Event Format, which [Perfetto](https://ui.perfetto.dev) opens too.
  case chrome
  /// OpenTelemetry's protocol as JSON, with one `ExportTraceServiceRequest` per line.
  case openTelemetry

  /// Creates the format that the ending of a path implies: ``openTelemetry`` for `.otlp`,
  /// `.otlp.json` and `.otlp.jsonl`, and ``chrome`` for any other `.json`.
  ///
  /// - Parameter path: The path of a file, in upper or lower case.
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
