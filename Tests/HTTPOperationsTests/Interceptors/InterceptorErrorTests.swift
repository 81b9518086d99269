import CompositeOperations
import CompositeOperationsTestKit
import Foundation
import HTTPOperations
import HTTPOperationsTestKit
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Errors of interceptors, and errors because of them.
@Suite(.timeLimit(.minutes(10))) struct InterceptorErrorTests {
  private let url = URL(string: "https://server/a") ?? URL(fileURLWithPath: "/")

  @Test(arguments: ["", "other"])
  func `N17: an interceptor cannot replace a body that is not in memory`(text: String)
    async throws
  {
    let folder = try TemporaryFolder()
    try Data("file".utf8).write(to: folder["file"])
    for source in [
      HTTPUploadSource.file(folder["file"]), .form([.text("name", "value")]),
      .stream {
        AsyncStream { continuation in
          continuation.yield(Array("parts".utf8))
          continuation.finish()
        }
      },
    ] {
      let server = FakeHTTPServer(
        interceptors: [ChangingInterceptor { $0.httpBody = Data(text.utf8) }]
      ) { _ in .init() }
      let upload = HTTPUploadOperation(url, method: "PUT", from: source, session: server.session)
      let outcome = await upload.run()
      let error = try #require(outcome.error as? HTTPTransferError, "\(outcome)")
      #expect(
        error.reason
          == .badRequest(
            "an interceptor has set a body, although the body is a file, a form or a sequence"))
      #expect(!error.wasSent && !error.isRetryable && server.requests.isEmpty)
    }
  }

  @Test(arguments: FailingCall.Place.allCases, ["POST", "PUT"])
  func `N17: a request that may not be repeated is not retried for an error of an interceptor`(
    place: FailingCall.Place, method: String
  ) async throws {
    // The interceptor sends a GET, whose error is retryable.
    let inner = FakeHTTPServer { _ in .failure(.timedOut) }
    let interceptor = FailingCall(place: place, session: inner.session)
    let server = FakeHTTPServer(interceptors: [interceptor]) { _ in
      place == .afterRedirect ? .init(307, headers: ["Location": "/b"]) : .init(500)
    }
    let upload = HTTPUploadOperation(
      url, method: method, from: .data(Data("order".utf8)), session: server.session)
    let outcome = await upload.retryingHTTP(attempts: 3, backoff: .none).run()
    let errors = try #require(outcome.error as? RetryError, "\(outcome)").errors
    let isRetried = place == .beforeSending || method == "PUT"
    #expect(errors.count == (isRetried ? 3 : 1) && inner.requests.count == errors.count)
    #expect(server.requests.count == (place == .beforeSending ? 0 : errors.count))
    if isRetried {
      #expect(errors.allSatisfy { ($0 as? HTTPTransferError)?.reason == .timedOut })
    } else {
      let error = try #require(errors[0] as? HTTPInterceptorError)
      #expect((error.cause as? HTTPTransferError)?.reason == .timedOut)
      #expect(error.request.method == "POST" && !error.isRetryable)
      #expect("\(error)".hasPrefix("POST https://server/a"), "\(error)")
      #expect("\(error)".contains("GET https://inner/check failed"), "\(error)")
    }
  }

  @Test func `N17: a query that an interceptor adds is not taken for a redirect`() async throws {
    let signing = ChangingInterceptor {
      $0.url?.append(queryItems: [.init(name: "key", value: "1")])
    }
    let server = FakeHTTPServer(interceptors: [signing]) { _ in .init("text") }
    let fetch = HTTPDataOperation(url, session: server.session).decoding(Int.self)
    let error = try #require(await fetch.run().error as? HTTPDecodingError)
    #expect(server.requests.map(\.url.query) == ["key=1"])
    #expect(error.request.redirectedTo == nil, "\(error)")
  }
}

/// Sends a request of its own, which fails.
struct FailingCall: HTTPInterceptor {
  enum Place: CaseIterable, Sendable { case beforeSending, afterRedirect, afterRefusal }

  let place: Place
  let session: HTTPSession

  private func call() async throws {
    guard let url = URL(string: "https://inner/check") else { return }
    _ = try await HTTPDataOperation(url, session: session).run().get()
  }

  func willSend(_ request: URLRequest) async throws -> URLRequest {
    if place == .beforeSending || place == .afterRedirect && request.url?.path == "/b" {
      try await call()
    }
    return request
  }

  func shouldSendAgain(
    _ request: URLRequest, after response: HTTPResponseHead, repetition: Int
  ) async throws -> Bool {
    try await call()
    return false
  }
}
