extension OperationTrace {
  /// The trace in the Trace Event Format of Chrome, which [Perfetto](https://ui.perfetto.dev) opens too.
  ///
  /// Every lane is a thread, every run a slice of it, and what a run waits for is a slice below it. Times are
  /// in microseconds since ``beginning``; what goes on ends at ``end``.
  ///
  /// - Complexity: O(*n*) in the number of runs.
  public var chromeJSON: String {
    var encoder = ChromeEncoder(service: ProgramName.current)
    let events = encoder.block(of: spans.map { .ended($0) }, now: end) + encoder.ending()
    return "{\"displayTimeUnit\":\"ns\",\"traceEvents\":"
      + String(decoding: events.dropLast(), as: UTF8.self) + "}\n"
  }

  /// The trace in OpenTelemetry's protocol: an `ExportTraceServiceRequest` as JSON, on one line.
  ///
  /// All that ran below one outermost run is one trace. What goes on ends at ``end``.
  ///
  /// - Complexity: O(*n*) in the number of runs.
  public var openTelemetryJSON: String {
    let encoder = OpenTelemetryEncoder(
      service: ProgramName.current, seed: seed, beginning: beginning)
    return String(decoding: encoder.request(of: spans, now: end), as: UTF8.self) + "\n"
  }
}
