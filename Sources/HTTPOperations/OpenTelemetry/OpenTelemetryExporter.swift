public import CompositeOperations
public import Foundation
public import OperationTracing
internal import SystemSupport

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// Sends traces to an OpenTelemetry collector, in OTLP over HTTP with JSON.
///
/// ```swift
/// import HTTPOperations
///
/// let recorder = TraceRecorder()
/// _ = await sync.observed(by: recorder).run()
/// if let collector = URL(string: "http://localhost:4318") {
///   try await OpenTelemetryExporter(to: collector).export(recorder.trace, within: .seconds(5))
/// }
/// ```
///
/// A request that the collector cannot accept for the time being, by the rules of the
/// [protocol](https://opentelemetry.io/docs/specs/otlp/#otlphttp), is retried: after the statuses
/// 429, 502, 503 and 504, and if there is no response. There are at most 5 attempts. The delays
/// grow from 1 second to 30 seconds, and are at least the delay in the `Retry-After` header of the
/// collector. A collector that accepts connections and never answers takes minutes, so pass a limit at
/// the end of a program.
public struct OpenTelemetryExporter: Sendable {
  /// The URL of the requests.
  public let url: URL
  let service: String
  private let headers: [String: String]
  private let session: HTTPSession
  let environment: OperationEnvironment

  /// Creates an exporter for a collector.
  ///
  /// - Parameters:
  ///   - collector: The URL of the collector. Requests go to `v1/traces` below it.
  ///   - headers: Additional headers of the requests, such as `Authorization`.
  ///   - service: The name of the program in the trace; nil for the name of its file.
  ///   - session: The session that sends the requests.
  ///   - environment: The environment of the requests. Delays before retries use its clock. Its
  ///     observers see the requests, so a stream to this exporter must not be one of them.
  public init(
    to collector: URL, headers: [String: String] = [:], service: String? = nil,
    session: HTTPSession = .shared, in environment: OperationEnvironment = OperationEnvironment()
  ) {
    url = collector.appendingPathComponent("v1").appendingPathComponent("traces")
    self.headers = headers
    self.service = service ?? SystemProcess.programName
    self.session = session
    self.environment = environment
  }

  /// Sends a trace, with 1,000 runs in each request.
  ///
  /// Runs that have not ended are sent with the end of the trace as their end.
  ///
  /// - Parameters:
  ///   - trace: The trace.
  ///   - limit: The maximum duration of all requests and retries, measured by the clock of the
  ///     environment; nil for no other limits than those of the requests.
  /// - Throws: ``OpenTelemetryExportError`` if the collector is not reached or does not accept the
  ///   whole trace within the limit, and `CancellationError` if the task is cancelled. Requests that were
  ///   sent before are not undone.
  public func export(_ trace: OperationTrace, within limit: Duration? = nil) async throws {
    guard let limit else { return try await send(trace) }
    let isInTime = try await environment.performs(within: limit) { try await send(trace) }
    try Task.checkCancellation()
    if !isInTime { throw OpenTelemetryExportError(url: url, reason: .tooSlow(limit: limit)) }
  }

  private func send(_ trace: OperationTrace) async throws {
    let encoder = OpenTelemetryEncoder(
      service: service, seed: trace.seed, beginning: trace.beginning)
    let end = trace.end
    var rest = trace.spans[...]
    while !rest.isEmpty {
      try await post(encoder.request(of: rest.prefix(1_000), now: end))
      rest = rest.dropFirst(1_000)
    }
  }

  /// Sends a request, and retries it if that may help.
  func post(_ body: [UInt8]) async throws {
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    request.httpBody = Data(body)
    for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    try await PostSpans(request: request, url: url, session: session)
      .retrying(Self.retries).run(in: environment).get()
  }

  private static let retries = RetryPolicy(
    attempts: 5, backoff: .exponential(from: .seconds(1)).capped(at: .seconds(30)).jittered(),
    throwing: .lastAttempt
  ) { error in (error as? OpenTelemetryExportError)?.isTransient == true }
}

extension OpenTelemetryExporter: CustomReflectable {
  /// The URL without secrets, and the name of the service.
  public var customMirror: Mirror {
    Mirror(
      self, children: ["url": url.withoutSecrets, "service": service], displayStyle: .struct)
  }
}

extension OperationEnvironment {
  /// Performs a body, and cancels it after a time.
  ///
  /// - Parameters:
  ///   - limit: The time, measured by the clock of the environment.
  ///   - begin: Waits until the time begins.
  /// - Returns: Whether the body has ended by itself. If not, its error is ignored.
  func performs(
    within limit: @escaping @autoclosure @Sendable () -> Duration,
    after begin: @escaping @Sendable () async -> Void = {},
    _ body: @escaping @Sendable () async throws -> Void
  ) async throws -> Bool {
    try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask {
        try await body()
        return true
      }
      group.addTask {
        await begin()
        try? await clock.sleep(for: limit())
        return false
      }
      // A cancellation ends both.
      let isInTime = try await group.next() == true
      group.cancelAll()
      return isInTime
    }
  }
}
