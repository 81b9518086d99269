public import CompositeOperations
public import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// Posts traces to a collector of OpenTelemetry, by its protocol over HTTP with JSON.
///
/// ```swift
/// import CompositeOperationsFoundation
///
/// let recorder = TraceRecorder()
/// _ = await sync.observed(by: recorder).run()
/// if let collector = URL(string: "http://localhost:4318") {
///   try await OpenTelemetryExporter(to: collector).export(recorder.trace)
/// }
/// ```
///
/// What the collector cannot take at the moment, by the rules of the
/// [protocol](https://opentelemetry.io/docs/specs/otlp/#otlphttp), is sent again: after the statuses 429, 502,
/// 503 and 504 and where nobody answers, 5 times in all, after delays that grow from 1 second to 30 and are at
/// least what the collector says by `Retry-After`.
public struct OpenTelemetryExporter: Sendable {
  /// Where requests go.
  public let url: URL
  let service: String
  private let headers: [String: String]
  private let session: HTTPSession
  private let environment: OperationEnvironment

  /// - Parameters:
  ///   - collector: The address of the collector; requests go to `v1/traces` below it.
  ///   - headers: What else a request says, such as `Authorization`.
  ///   - service: What the program is called in the trace; nil for the name of its file.
  ///   - session: What sends requests.
  ///   - environment: Where requests stand: by its clock they wait before they are sent again. Its observers
  ///     see them; a stream to this exporter must not be one of them.
  public init(
    to collector: URL, headers: [String: String] = [:], service: String? = nil,
    session: HTTPSession = .shared, in environment: OperationEnvironment = OperationEnvironment()
  ) {
    url = collector.appendingPathComponent("v1").appendingPathComponent("traces")
    self.headers = headers
    self.service = service ?? ProgramName.current
    self.session = session
    self.environment = environment
  }

  /// Posts a trace, 1,000 runs at a time. What goes on is told to end where the trace does.
  ///
  /// - Throws: ``OpenTelemetryExportError`` if the collector is not reached or does not take all of it, and
  ///   `CancellationError` if the task is cancelled. What was posted before stays posted.
  public func export(_ trace: OperationTrace) async throws {
    let encoder = OpenTelemetryEncoder(
      service: service, seed: trace.seed, beginning: trace.beginning)
    let end = trace.end
    var rest = trace.spans[...]
    while !rest.isEmpty {
      try await post(encoder.request(of: rest.prefix(1_000), now: end))
      rest = rest.dropFirst(1_000)
    }
  }

  /// Posts a request, again if that may help.
  func post(_ body: [UInt8]) async throws {
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    request.httpBody = Data(body)
    for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    let outcome = await PostSpans(request: request, url: url, session: session)
      .retrying(
        attempts: 5, backoff: .exponential(from: .seconds(1)).capped(at: .seconds(30)).jittered(),
        when: { ($0 as? OpenTelemetryExportError)?.isTransient == true }
      )
      .run(in: environment)
    do { try outcome.get() } catch let error as RetryError { throw error.errors.last ?? error }
  }
}
