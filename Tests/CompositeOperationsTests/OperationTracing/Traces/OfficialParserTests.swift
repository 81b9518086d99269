import CompositeOperations
import CompositeOperationsTestKit
import Foundation
import OperationTracing
import Testing

/// Checks exports with the official parsers of their formats, if these are installed.
/// `COMPOSITE_PYTHON` names a Python with the packages opentelemetry-proto and prometheus_client.
@Suite(
  .enabled("Python has no opentelemetry-proto and prometheus_client here") {
    try await FormatChecker.isAvailable()
  })
struct OfficialParserTests {
  private struct Found: Decodable {
    let name: String
    let code: Int
    let message: String

    init(from decoder: any Decoder) throws {
      var values = try decoder.unkeyedContainer()
      name = try values.decode(String.self)
      code = try values.decode(Int.self)
      message = try values.decode(String.self)
    }
  }

  private func spans(in text: String) async throws -> [Found] {
    try await FormatChecker.findings(in: text, .otlp).map {
      try JSONDecoder().decode(Found.self, from: Data($0.utf8))
    }
  }

  @Test func `a recorded trace is an ExportTraceServiceRequest`() async throws {
    let trace = await TraceScene.trace
    let found = try await spans(in: trace.openTelemetryJSON)
    #expect(found.map(\.name) == trace.spans.map(\.name))
    #expect(found.map(\.code) == trace.spans.map { if case .error = $0.end { 2 } else { 0 } })
    #expect(found.contains { $0.message == TraceScene.oddText })
  }

  @Test func `every line of a file is an ExportTraceServiceRequest, and no run is lost`()
    async throws
  {
    let target = TemporaryFile(".otlp")
    let file = try TraceFile(target.path)
    await TraceScene.run(observedBy: file)
    let list = ParallelOperation((0..<1_000).map { index in SimpleOperation { index } })
    _ = await list.observed(by: file).run()
    let gate = Gate()
    let run = SimpleOperation { try await gate.pass() }.named("active").observed(by: file).start()
    await gate.waitForArrivals(1)
    try file.close()
    run.cancel()
    let found = try await spans(in: target.text)
    #expect(try target.text.split(separator: "\n").count > 3)
    #expect(found.count == 1_001 + 1 + (await TraceScene.trace.spans.count))
    #expect(found.last?.name == "active")
  }

  @Test func `the parser refuses an invalid request`() async throws {
    let good = await TraceScene.trace.openTelemetryJSON
    for (part, other) in [
      ("\"spanId\":\"", "\"spanId\":\"0"), ("\"attributes\":", "\"attribute\":"),
      ("\"kind\":1", "\"kind\":\"1\""),
    ] {
      let bad = good.replacingOccurrences(of: part, with: other)
      #expect(bad != good)
      await #expect(throws: TestError.self) { try await spans(in: bad) }
    }
  }

  @Test func `the Prometheus text contains all counts`() async throws {
    let counters = OperationCounters()
    await TraceScene.run(observedBy: counters)
    struct Sample: Decodable {
      let name: String
      let labels: [String: String]
      let value: Double

      init(from decoder: any Decoder) throws {
        var values = try decoder.unkeyedContainer()
        name = try values.decode(String.self)
        labels = try values.decode([String: String].self)
        value = try values.decode(Double.self)
      }
    }
    let samples = try await FormatChecker.findings(in: counters.prometheusText, .prometheus).map {
      try JSONDecoder().decode(Sample.self, from: Data($0.utf8))
    }
    func value(_ name: String, _ operation: String, _ labels: [String: String] = [:]) -> Double? {
      let labels = labels.merging(["operation": operation]) { $1 }
      return samples.first { $0.name == "composite_operations_\(name)" && $0.labels == labels }?
        .value
    }
    for counts in counters.counts {
      #expect(value("runs_begun_total", counts.name) == Double(counts.begun))
      #expect(
        value("runs_ended_total", counts.name, ["outcome": "error"]) == Double(counts.errors))
      #expect(value("runs_in_flight", counts.name) == 0)
      #expect(value("run_duration_seconds_count", counts.name) == Double(counts.ended))
      #expect(
        value("run_duration_seconds_bucket", counts.name, ["le": "+Inf"]) == Double(counts.ended))
      let sum = counts.durations.sum / .seconds(1)
      #expect(value("run_duration_seconds_sum", counts.name) == sum)
      let buckets = samples.filter {
        $0.name.hasSuffix("_bucket") && $0.labels["operation"] == counts.name
      }
      #expect(buckets.count == DurationHistogram.defaultBounds.count + 1)
      #expect(buckets.map(\.value) == buckets.map(\.value).sorted())
    }
    #expect(value("runs_waiting", "waits", ["wait": "time"]) == 0)
  }
}
