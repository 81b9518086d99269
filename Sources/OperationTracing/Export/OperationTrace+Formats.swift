internal import SystemSupport

extension OperationTrace {
  /// The trace in Chrome's Trace Event Format, which [Perfetto](https://ui.perfetto.dev) opens too.
  ///
  /// Each lane is a thread, each run is a slice of it, and each wait is a slice below its run.
  /// Times are in microseconds since ``beginning``. Unfinished runs end at ``end``.
  ///
  /// - Complexity: O(*n*) in the number of runs.
  public var chromeJSON: String {
    var encoder = ChromeEncoder(service: SystemProcess.programName)
    let events = encoder.block(of: spans.map { .ended($0) }, now: end) + encoder.ending()
    return "{\"displayTimeUnit\":\"ns\",\"traceEvents\":"
      + String(decoding: events.dropLast(), as: UTF8.self) + "}\n"
  }

  /// The trace in OpenTelemetry's protocol: one `ExportTraceServiceRequest` as JSON, on one line.
  ///
  /// All runs below one outermost run form one trace, except for parts of a durable run in
  /// PostgreSQL: they belong to the trace of that run. Unfinished runs end at ``end``.
  ///
  /// - Complexity: O(*n*) in the number of runs.
  public var openTelemetryJSON: String {
    let encoder = OpenTelemetryEncoder(
      service: SystemProcess.programName, seed: seed, beginning: beginning)
    return String(decoding: encoder.request(of: spans, now: end), as: UTF8.self) + "\n"
  }
}
