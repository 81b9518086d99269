extension OperationCounters {
  /// The counts so far in the [text format of
  /// Prometheus](https://prometheus.io/docs/instrumenting/exposition_formats/), version 0.0.4. Its
  /// `Content-Type` is `text/plain; version=0.0.4`.
  ///
  /// | metric | kind | labels |
  /// |---|---|---|
  /// | `composite_operations_runs_begun_total` | counter | `operation` |
  /// | `composite_operations_runs_ended_total` | counter | `operation`, `outcome` |
  /// | `composite_operations_runs_in_flight` | gauge | `operation` |
  /// | `composite_operations_runs_waiting` | gauge | `operation`, `wait` |
  /// | `composite_operations_retries_total` | counter | `operation` |
  /// | `composite_operations_run_duration_seconds` | histogram | `operation` |
  ///
  /// - Complexity: O(*n*) in the number of names.
  public var prometheusText: String {
    let counts = counts
    var text = PrometheusText()
    text.family(
      "runs_begun_total", .counter, "Runs that were created.",
      counts.map { (["operation": $0.name], $0.begun) })
    text.family(
      "runs_ended_total", .counter, "Runs that have ended, by their outcomes.",
      counts.flatMap { counts in
        [
          ("result", counts.results), ("error", counts.errors), ("cancelled", counts.cancellations),
        ].map { (["operation": counts.name, "outcome": $0], $1) }
      })
    text.family(
      "runs_in_flight", .gauge, "Runs that have not ended.",
      counts.map { (["operation": $0.name], $0.inFlight) })
    text.family(
      "runs_waiting", .gauge, "Runs that are waiting, by what they wait for.",
      counts.flatMap { counts in
        OperationCounts.Wait.allCases.compactMap { wait in
          counts.waiting[wait].map { (["operation": counts.name, "wait": wait.rawValue], $0) }
        }
      })
    text.family(
      "retries_total", .counter, "Attempts that failed and were followed by another one.",
      counts.map { (["operation": $0.name], $0.retries) })
    text.histograms(
      "run_duration_seconds", "Time from the creation of a run to its end, waiting included.",
      counts.map { (["operation": $0.name], $0.durations) })
    return text.text
  }
}
