import CompositeOperations
import Foundation
import HTTPOperations
import HTTPOperationsTestKit
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(10))) struct FakeHTTPServerTests {
  private let url = URL(string: "http://server/a") ?? URL(fileURLWithPath: "/")

  @Test func `a request is answered by the function and recorded`() async throws {
    let server = FakeHTTPServer { request in
      .init("[\"\(request.url.path)\"]", status: 201, headers: ["X-Name": "value"])
    }
    var request = URLRequest(url: url)
    request.httpMethod = "PUT"
    request.httpBody = Data("body".utf8)
    let fetch = HTTPDataOperation(request, session: server.session)
    let response = try await fetch.run().get()
    #expect(response.status == 201)
    #expect(response.headers["x-name"] == "value")
    #expect(try response.decoded([String].self) == ["/a"])
    #expect(server.requests.map(\.method) == ["PUT"])
    #expect(server.requests.map(\.body) == [Data("body".utf8)])
    #expect(server.requests[0].headers["User-Agent"]?.hasPrefix("CompositeOperations/") == true)
  }

  @Test func `redirects, credentials and retries are as with a real server`() async throws {
    let server = FakeHTTPServer { request in
      switch request.url.host {
      case "server": .init(302, headers: ["Location": "http://other/b"])
      default: request.headers["Authorization"] == nil ? .init("arrived") : .init(400)
      }
    }
    var request = URLRequest(url: url)
    request.setValue("secret", forHTTPHeaderField: "Authorization")
    let response = try await HTTPDataOperation(request, session: server.session).run().get()
    #expect(response.body == Data("arrived".utf8))
    #expect(response.url.absoluteString == "http://other/b")

    let busy = FakeHTTPServer { _ in .init(503) }
    let error = await HTTPDataOperation(url, session: busy.session)
      .retryingHTTP(attempts: 3, backoff: .none).run().error
    #expect((error as? RetryError)?.errors.count == 3)
    #expect(busy.requests.count == 3)
  }

  @Test(arguments: [true, false])
  func `a failure is the error of the request`(wasSent: Bool) async throws {
    let server = FakeHTTPServer { _ in .failure(.timedOut, wasSent: wasSent) }
    let upload = HTTPUploadOperation(
      url, method: "POST", from: .data(Data()), session: server.session)
    let error = try #require(await upload.run().error as? HTTPTransferError)
    #expect(error.reason == .timedOut)
    #expect(error.isRetryable == !wasSent)
  }

  @Test(arguments: [
    HTTPTransferError.Reason.hostNotFound, .cannotConnect, .offline, .timedOut, .connectionLost,
    .incompleteBody(received: 1, expected: 2), .certificateRefused, .notSecure, .badAnswer,
    .badRequest("too long"), .undecodableBody, .other(code: 61),
  ])
  func `the advice is to try again only after a transient failure`(
    reason: HTTPTransferError.Reason
  ) async throws {
    let server = FakeHTTPServer { _ in .failure(reason, wasSent: false) }
    let data = HTTPDataOperation(url, session: server.session)
    let error = try #require(await data.run().error as? HTTPTransferError)
    #expect(error.reason == reason)
    #expect(error.isTransient || !error.description.contains("ry again"), "\(error)")
  }

  @Test func `an interrupted body is an error and nothing of it a result`() async throws {
    let server = FakeHTTPServer { _ in FakeHTTPServer.Answer("part").interrupted() }
    let outcome = await HTTPDataOperation(url, session: server.session).run()
    #expect((outcome.error as? HTTPTransferError)?.reason == .connectionLost)
  }

  @Test(.timeLimit(.minutes(10)))
  func `a request that is never answered can be cancelled`() async throws {
    let server = FakeHTTPServer { _ in .never }
    let run = HTTPDataOperation(url, session: server.session).start()
    while server.requests.isEmpty { await Task.yield() }
    run.cancel()
    #expect(await run.outcome.isCancelled)
  }

  @Test func `a large body arrives in full`() async throws {
    let parts = (0..<100).map { _ in someBytes(50_000) }
    let server = FakeHTTPServer { _ in .init(body: parts) }
    let response = try await HTTPDataOperation(url, session: server.session).run().get()
    #expect(response.body == Data(parts.joined()))
    let folder = try TemporaryFolder()
    let file = folder["file"]
    _ = try await HTTPDownloadOperation(url, to: file, session: server.session).run().get()
    #expect(try Data(contentsOf: file) == Data(parts.joined()))
  }

  @Test func `files and sequences are received in full`() async throws {
    let server = FakeHTTPServer { request in .init("\(request.body.count)") }
    let folder = try TemporaryFolder()
    let bytes = Data(someBytes(1_000_000))
    try bytes.write(to: folder["file"])
    let file = HTTPUploadOperation(url, from: .file(folder["file"]), session: server.session)
    #expect(try await file.run().get().body == Data("1000000".utf8))
    let stream = HTTPUploadOperation(
      url,
      from: .stream {
        AsyncStream { continuation in
          for start in stride(from: 0, to: bytes.count, by: 30_000) {
            continuation.yield([UInt8](bytes[start..<min(start + 30_000, bytes.count)]))
          }
          continuation.finish()
        }
      }, session: server.session)
    #expect(try await stream.run().get().body == Data("1000000".utf8))
    #expect(server.requests.map(\.body) == [bytes, bytes])
  }
}
