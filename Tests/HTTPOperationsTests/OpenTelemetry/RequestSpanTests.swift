import CompositeOperations
import Foundation
import HTTPOperations
import HTTPOperationsTestKit
import OperationTracing
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(10))) struct RequestSpanTests {
  private let url =
    URL(string: "https://user:pass@server/a?key=secret") ?? URL(fileURLWithPath: "/")

  private var sending: HTTPConfiguration {
    var configuration = HTTPConfiguration()
    configuration.sendsTraceParent = true
    return configuration
  }

  /// Runs an operation, and returns its trace.
  private func trace(of operation: some ComposableOperation) async -> OperationTrace {
    let recorder = TraceRecorder()
    _ = await operation.observed(by: recorder).run()
    return recorder.trace
  }

  /// The span of a request in the exported trace.
  private struct Exported: Decodable {
    let traceId: String
    let spanId: String
    let name: String
    let kind: Int
  }

  private func exported(_ trace: OperationTrace) throws -> [Exported] {
    struct Request: Decodable {
      struct Resource: Decodable {
        struct Scope: Decodable { let spans: [Exported] }
        let scopeSpans: [Scope]
      }
      let resourceSpans: [Resource]
    }
    let request = try JSONDecoder().decode(Request.self, from: Data(trace.openTelemetryJSON.utf8))
    return request.resourceSpans.flatMap(\.scopeSpans).flatMap(\.spans)
  }

  @Test func `N23: the span of a request has its attributes, without secrets`() async throws {
    let server = FakeHTTPServer { _ in .init("yes") }
    let trace = await trace(of: HTTPDataOperation(url, session: server.session))
    let span = try #require(trace.spans.first)
    #expect(
      span.attributes == [
        "span.kind": "client", "http.request.method": "GET",
        "url.full": "https://server/a?key=…", "server.address": "server", "server.port": 443,
        "http.response.status_code": 200,
      ])
    #expect(try exported(trace).map(\.kind) == [3])
  }

  @Test func `N23: the attributes of an error have its status or its reason`() async throws {
    let refusing = FakeHTTPServer { _ in .init(404) }
    let refused = await trace(of: HTTPDataOperation(url, session: refusing.session))
    let status = try #require(refused.spans.first?.attributes)
    #expect(status["error.type"] == "404" && status["http.response.status_code"] == 404)
    let failing = FakeHTTPServer { _ in .failure(.incompleteBody(received: 1, expected: 2)) }
    let failed = await trace(of: HTTPDataOperation(url, session: failing.session))
    let reason = try #require(failed.spans.first?.attributes)
    #expect(reason["error.type"] == "incompleteBody")
    #expect(reason["http.response.status_code"] == nil)
    #expect(reason["http.request.method"] == "GET")
  }

  @Test func `N23: a cancelled request has no attribute of an error`() async throws {
    let recorder = TraceRecorder()
    let server = FakeHTTPServer { _ in .never }
    let run = HTTPDataOperation(url, session: server.session).observed(by: recorder).start()
    try await eventually { !server.requests.isEmpty }
    run.cancel()
    _ = await run.outcome
    let attributes = try #require(recorder.trace.spans.first?.attributes)
    #expect(attributes["http.request.method"] == "GET" && attributes["error.type"] == nil)
  }

  @Test func `N23: after redirects, the attributes are those of the last request`() async throws {
    let server = FakeHTTPServer { request in
      request.url.host == "server"
        ? .init(303, headers: ["Location": "http://other:81/b"]) : .init("yes")
    }
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    let trace = await trace(of: HTTPDataOperation(request, session: server.session))
    let attributes = try #require(trace.spans.first?.attributes)
    #expect(
      attributes == [
        "span.kind": "client", "http.request.method": "GET", "url.full": "http://other:81/b",
        "server.address": "other", "server.port": 81, "http.request.resend_count": 1,
        "http.response.status_code": 200,
      ])
  }

  @Test func `N23: every kind of request has attributes`() async throws {
    let server = FakeHTTPServer(sending) { _ in .init("yes") }
    let folder = try TemporaryFolder()
    let operations: [any ComposableOperation] = [
      HTTPDataOperation(url, session: server.session),
      HTTPUploadOperation(url, from: .data(Data("x".utf8)), session: server.session),
      HTTPDownloadOperation(url, to: folder["file"], session: server.session),
      HTTPStreamOperation(url, session: server.session) { _ in },
    ]
    for operation in operations {
      let span = try #require(await trace(of: operation).spans.first)
      #expect(span.end == .result && span.attributes["http.response.status_code"] == 200)
    }
    #expect(server.requests.count == 4)
    #expect(server.requests.allSatisfy { $0.headers["traceparent"] != nil })
  }

  @Test func `N23: traceparent has the identifiers of the exported span`() async throws {
    let server = FakeHTTPServer(sending) { request in
      request.url.path == "/a" ? .init(302, headers: ["Location": "/b"]) : .init(503)
    }
    let request = HTTPDataOperation(url, session: server.session).named("request")
    let operation = ParallelOperation([request.retrying(attempts: 2, backoff: .none)])
    let trace = await trace(of: operation)
    let spans = try exported(trace).filter { $0.kind == 3 }
    #expect(spans.count == 2 && Set(spans.map(\.spanId)).count == 2)
    #expect(Set(spans.map(\.traceId)).count == 1)
    // Two attempts, each with a redirect.
    #expect(
      server.requests.map { $0.headers["traceparent"] ?? "-" }
        == spans.flatMap { Array(repeating: "00-\($0.traceId)-\($0.spanId)-01", count: 2) })
  }

  @Test func `N23: another trace of the same run has the same identifiers`() async throws {
    let server = FakeHTTPServer { _ in .init("yes") }
    let (one, other) = (TraceRecorder(), TraceRecorder())
    _ = await HTTPDataOperation(url, session: server.session).run(
      in: OperationEnvironment(observers: [one, other]))
    let spans = try exported(one.trace)
    #expect(spans.count == 1)
    #expect(try exported(other.trace).map(\.spanId) == spans.map(\.spanId))
    #expect(try exported(other.trace).map(\.traceId) == spans.map(\.traceId))
  }

  @Test func `N23: a session that does not send traceparent leaves the header alone`() async {
    let own = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    let (silent, server) = (
      FakeHTTPServer { _ in .init() }, FakeHTTPServer(sending) { _ in .init() }
    )
    _ = await trace(of: HTTPDataOperation(url, session: silent.session))
    #expect(silent.requests.map { $0.headers["traceparent"] } == [nil])
    var request = URLRequest(url: url)
    request.setValue(own, forHTTPHeaderField: "TraceParent")
    _ = await trace(of: HTTPDataOperation(request, session: server.session))
    // A run that is not observed has no span.
    _ = await HTTPDataOperation(url, session: server.session).run()
    #expect(server.requests.map { $0.headers["traceparent"] } == [own, nil])
  }
}
