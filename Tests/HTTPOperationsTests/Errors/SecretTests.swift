import CompositeOperations
import CompositeOperationsTestKit
import Foundation
import HTTPOperations
import LoopbackServer
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Secrets of requests, responses and configurations, which no text of a value shows.
@Suite(.timeLimit(.minutes(10))) struct SecretTests {
  /// In every place that may have one.
  private static let secret = "s3cr3t"

  /// All texts that programs make of a value, also of the values inside it.
  private static func texts(of value: Any) -> String {
    var dumped = ""
    dump(value, to: &dumped)
    var texts = [dumped, "\(value)", String(reflecting: value), String(describing: value)]
    if let error = value as? any Error { texts.append(error.localizedDescription) }
    texts += Mirror(reflecting: value).children.map { Self.texts(of: $0.value) }
    return texts.joined(separator: "\n")
  }

  private static func expectNone(
    in value: Any, _ location: SourceLocation = #_sourceLocation
  ) {
    let texts = texts(of: value)
    #expect(!texts.contains(secret), "\(type(of: value)): \(texts)", sourceLocation: location)
  }

  private static let headers = [
    "Authorization", "Proxy-Authorization", "Cookie", "X-Api-Key",
  ].map { HTTPHeaders.Field(name: $0, value: "Bearer \(secret)") }

  /// The headers of responses.
  private static let answered = [
    "Set-Cookie: a=\(secret)", "X-Token: \(secret)", "Content-Type: text/plain", "ETag: \"1\"",
  ]

  private static func url(_ server: LoopbackServer, _ path: String) throws -> URL {
    let text = "http://me:\(secret)@127.0.0.1:\(server.port)/\(path)?sig=\(secret)#\(secret)"
    return try #require(URL(string: text))
  }

  private static func request(_ server: LoopbackServer, _ path: String = "ok") throws -> URLRequest
  {
    var request = URLRequest(url: try url(server, path))
    for field in headers { request.setValue(field.value, forHTTPHeaderField: field.name) }
    return request
  }

  private static func server() throws -> LoopbackServer {
    try LoopbackServer { request, connection in
      let signed = "Location: /next?sig=\(secret)"
      switch request.path.prefix(4) {
      case "/ok?": connection.send(.init("answer", headers: answered))
      case "/not": connection.send(.init(404, headers: answered, "no"))
      case "/cut": connection.send(.init("cut", headers: answered, length: 100))
      case "/odd":
        connection.send(.init(302, headers: answered + ["Location: ftp://h/?s=\(secret)"]))
      default: connection.send(.init(302, headers: answered + [signed]))
      }
    }
  }

  private static var configuration: HTTPConfiguration {
    get throws {
      var configuration = HTTPConfiguration()
      configuration.headers = HTTPHeaders(headers)
      configuration.certificates.keyPassword = secret
      configuration.proxy = .url(try #require(URL(string: "http://me:\(secret)@proxy.invalid:1")))
      return configuration
    }
  }

  @Test func `N10: no text of a configuration, a session or an operation shows a secret`() throws {
    let (server, folder) = (try Self.server(), try TemporaryFolder())
    let (configuration, request) = (try Self.configuration, try Self.request(server))
    let session = HTTPSession(configuration)
    Self.expectNone(in: configuration)
    Self.expectNone(in: configuration.headers)
    Self.expectNone(in: configuration.headers.fields)
    Self.expectNone(in: configuration.proxy)
    Self.expectNone(in: configuration.certificates)
    Self.expectNone(in: session)
    let data = HTTPDataOperation(request, session: session)
    Self.expectNone(in: data)
    Self.expectNone(in: data.retryingHTTP().named("fetch"))
    Self.expectNone(in: HTTPUploadOperation(request, from: .json([1]), session: session))
    Self.expectNone(in: HTTPUploadSource.json([1]))
    Self.expectNone(in: HTTPUploadSource.form([.text("password", Self.secret)]))
    Self.expectNone(in: HTTPDownloadOperation(request, to: folder["file"], session: session))
    Self.expectNone(in: HTTPStreamOperation(request, session: session) { $0.status })
    Self.expectNone(in: HTTPRequestOptions())
    let exporter = OpenTelemetryExporter(
      to: try Self.url(server, ""), headers: ["Authorization": Self.secret], session: session)
    Self.expectNone(in: exporter)
    Self.expectNone(in: OpenTelemetryStream(to: exporter))
    #expect(configuration.headers["authorization"] == "Bearer \(Self.secret)")
  }

  @Test func `N10: no text of a response or an event shows a secret`() async throws {
    let (server, folder) = (try Self.server(), try TemporaryFolder())
    let request = try Self.request(server)
    let response = try await HTTPDataOperation(request).run().get()
    Self.expectNone(in: response)
    Self.expectNone(in: response.head)
    Self.expectNone(in: response.headers)
    #expect("\(response.head)".contains("Content-Type: text/plain"), "\(response.head)")
    #expect(response.headers["set-cookie"] == "a=\(Self.secret)")
    let download = HTTPDownloadOperation(request, to: folder["file"])
    Self.expectNone(in: try await download.run().get())
    try await HTTPStreamOperation(request) { response in
      Self.expectNone(in: response)
      Self.expectNone(in: response.events)
      Self.expectNone(in: response.makeAsyncIterator())
      Self.expectNone(in: response.events.makeAsyncIterator())
    }.run().get()
    let observer = RecordingObserver()
    _ = await HTTPDataOperation(request).observed(by: observer).run()
    Self.expectNone(in: observer.events)
  }

  @Test func `N10: no text of an error shows a secret`() async throws {
    let (server, folder) = (try Self.server(), try TemporaryFolder())
    for path in ["not", "cut", "odd", "again"] {
      let outcome = await HTTPDataOperation(try Self.request(server, path)).retryingHTTP(
        attempts: 2, backoff: .none
      ).run()
      let error = try #require(outcome.error as? RetryError, "\(outcome)")
      Self.expectNone(in: error)
      for error in error.errors {
        Self.expectNone(in: error)
        if let error = error as? any HTTPRequestError { Self.expectNone(in: error.request) }
      }
    }
    let request = try Self.request(server)
    let decoding = HTTPDataOperation(request).decoding([Int].self)
    Self.expectNone(in: try #require(await decoding.run().error as? HTTPDecodingError))
    let large = HTTPDataOperation(request, options: .init(bodyLimit: 1))
    Self.expectNone(in: try #require(await large.run().error as? HTTPBodyLimitError))
    var put = request
    put.httpMethod = "PUT"
    let missing = HTTPUploadOperation(put, from: .file(folder["missing"]))
    Self.expectNone(in: try #require(await missing.run().error as? HTTPFileError))
    // No proxy is used for the address of the server.
    var remote = try #require(
      request.url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true) })
    remote.host = "nohost.invalid"
    var elsewhere = request
    elsewhere.url = remote.url
    let proxied = HTTPDataOperation(elsewhere, session: HTTPSession(try Self.configuration))
    Self.expectNone(in: try #require(await proxied.run().error as? HTTPTransferError))
    let post = OpenTelemetryExporter(to: try Self.url(server, "not"))
    do {
      try await post.export(await trace(of: 1))
      Issue.record("exported")
    } catch { Self.expectNone(in: error) }
  }
}
