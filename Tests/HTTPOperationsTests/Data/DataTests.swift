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

@Suite(.timeLimit(.minutes(10))) struct DataTests {
  @Test func `a response has a status, case-insensitive headers and a body`() async throws {
    let server = try LoopbackServer(.init(201, headers: ["X-Made-By: hand"], "made"))
    let response = try await HTTPDataOperation(server.url("/a?b=c")).run().get()
    #expect(response.status == 201)
    #expect(response.headers["x-made-by"] == "hand")
    #expect(String(decoding: response.body, as: UTF8.self) == "made")
    #expect(response.url == server.url("/a?b=c"))
    #expect(server.requests[0].path == "/a?b=c")
  }

  @Test func `an operation can run many times concurrently`() async throws {
    let server = try LoopbackServer { request, connection in
      connection.send(.init("\(request.number)"))
    }
    let fetch = HTTPDataOperation(server.url())
    let bodies = try await ParallelOperation((0..<8).map { _ in fetch }).run().get().map(\.body)
    let numbers = bodies.compactMap { Int(String(decoding: $0, as: UTF8.self)) }
    #expect(numbers.sorted() == Array(0..<8))
  }

  @Test func `the body, the method and the headers of a request are sent`() async throws {
    let server = try LoopbackServer(.init(204))
    var request = URLRequest(url: server.url())
    request.httpMethod = "PUT"
    request.httpBody = Data("contents".utf8)
    request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
    let response = try await HTTPDataOperation(request).run().get()
    #expect(response.status == 204)
    #expect(response.body.isEmpty)
    #expect(server.requests[0].method == "PUT")
    #expect(server.requests[0]["Content-Type"] == "text/plain")
    #expect(String(decoding: server.requests[0].body, as: UTF8.self) == "contents")
  }

  @Test(arguments: [
    400, 401, 402, 403, 404, 405, 407, 409, 410, 413, 418, 422, 451, 499, 500, 501, 505, 511, 555,
    599,
  ])
  func `N1: every status from 400 is an error with headers and the first part of the body`(
    status: Int
  ) async throws {
    let server = try LoopbackServer(
      .init(status, headers: ["X-Reason: none"], "no, " + String(repeating: "x", count: 10_000)))
    let error = try #require(
      await HTTPDataOperation(server.url("/thing")).run().error as? HTTPStatusError)
    #expect(error.status == status)
    #expect(error.headers["X-Reason"] == "none")
    #expect(error.body.count == 4_096)
    #expect(error.body.starts(with: Data("no, xxx".utf8)))
    #expect(
      error.description.hasPrefix("GET \(server.url("/thing")) failed with status \(status) ("))
    #expect(error.description.contains("): no, xxx"))
  }

  @Test func `a status error does not wait for the end of an endless body`() async throws {
    let server = try LoopbackServer { _, connection in
      connection.send(.init(500, body: Array(repeating: 97, count: 8_192), length: 1 << 40))
      connection.waitForClose()
    }
    let outcome = await HTTPDataOperation(server.url()).run()
    #expect((outcome.error as? HTTPStatusError)?.status == 500)
    await server.waitForCloses(1)
  }

  @Test(arguments: [true, false])
  func `an endless body is an error at the limit`(isAnnounced: Bool) async throws {
    let server = try LoopbackServer { _, connection in
      connection.send(.init(length: isAnnounced ? 1 << 40 : -1))
      let chunk = [UInt8](repeating: 97, count: 65_536)
      // No faster than the client reads: libcurl 7.88 stays with a connection as long as there is
      // something to read. Until then, its session can neither cancel nor start a task.
      while connection.send(chunk) { Thread.sleep(forTimeInterval: 0.002) }
    }
    let fetch = HTTPDataOperation(
      server.url(), options: .init(bodyLimit: 100_000), session: HTTPSession())
    let error = try #require(await fetch.run().error as? HTTPBodyLimitError)
    #expect(error.limit == 100_000)
    #expect(error.announced == (isAnnounced ? 1 << 40 : nil))
    #expect(error.description.contains("exceeds the limit of 100000 bytes"))
    await server.waitForCloses(1)
  }

  @Test func `a body exactly as long as the limit is accepted`() async throws {
    let server = try LoopbackServer(.init("12345"))
    let options = HTTPRequestOptions(bodyLimit: 5)
    let response = try await HTTPDataOperation(server.url(), options: options).run().get()
    #expect(response.body.count == 5)
  }

  @Test func `a HEAD response with a Content-Length has an empty body`() async throws {
    let server = try LoopbackServer(.init(length: 1 << 40))
    var request = URLRequest(url: server.url())
    request.httpMethod = "HEAD"
    let response = try await HTTPDataOperation(request).run().get()
    #expect(response.body.isEmpty)
    #expect(response.headers["Content-Length"] == "\(1 << 40)")
  }

  @Test func `an informational response before the final one is ignored`() async throws {
    let server = try LoopbackServer { _, connection in
      connection.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
      connection.send(.init("later"))
    }
    let response = try await HTTPDataOperation(server.url()).run().get()
    #expect(response.status == 200)
    #expect(response.body == Data("later".utf8))
  }

  @Test func `a chunked body that is sent slowly is complete`() async throws {
    let server = try LoopbackServer { _, connection in
      connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
      for word in ["one", "two", "six"] {
        connection.send("3\r\n\(word)\r\n")
        Thread.sleep(forTimeInterval: 0.002)
      }
      connection.send("0\r\n\r\n")
    }
    let response = try await HTTPDataOperation(server.url()).run().get()
    #expect(String(decoding: response.body, as: UTF8.self) == "onetwosix")
  }

  @Test func `progress is reported in bytes and ends at the length`() async throws {
    let server = try LoopbackServer(.init(body: Array(repeating: 97, count: 300_000)))
    let observer = RecordingObserver()
    _ = try await HTTPDataOperation(server.url()).observed(by: observer).run().get()
    let reported = observer.events.compactMap { event -> Int? in
      guard case .progressed(let count, let total, let unit) = event.kind else { return nil }
      #expect(total == 300_000)
      #expect(unit == "bytes")
      return count
    }
    #expect(reported == reported.sorted())
    #expect(reported.last == 300_000)
    #expect(reported.count <= 8)
  }

  @Test func `a request without an http URL is an error`() async throws {
    for text in ["ftp://host/a", "file:///etc/passwd", "http:///a", "/a"] {
      let url = try #require(URL(string: text))
      let error = try #require(await HTTPDataOperation(url).run().error as? HTTPTransferError)
      guard case .badRequest = error.reason else {
        Issue.record("\(text): \(error)")
        continue
      }
      #expect(!error.isRetryable)
    }
  }

  @Test(arguments: ["GET", "HEAD"])
  func `a GET or HEAD request with a body is an error, unless the body is empty`(method: String)
    async throws
  {
    let folder = try TemporaryFolder()
    let server = try LoopbackServer(.init())
    var request = URLRequest(url: server.url())
    request.httpMethod = method
    request.httpBody = Data([1])
    let outcomes = [
      await HTTPDataOperation(request).map { _ in }.run(),
      await HTTPDownloadOperation(request, to: folder["file"]).map { _ in }.run(),
    ]
    for outcome in outcomes {
      let error = try #require(outcome.error as? HTTPTransferError)
      #expect(
        error.reason
          == .badRequest("a \(method) request has no body: set the httpMethod, such as to PUT"))
    }
    #expect(server.requests.isEmpty)
    request.httpBody = Data()
    #expect(await HTTPDataOperation(request).run().result?.status == 200)
  }

  @Test func `a body stream is an error, because it can be read only once`() async throws {
    var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1/")))
    request.httpBodyStream = InputStream(data: Data([1]))
    let error = try #require(await HTTPDataOperation(request).run().error as? HTTPTransferError)
    #expect(error.description.contains("httpBodyStream"))
  }
}
