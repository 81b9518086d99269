import CompositeOperations
import Foundation
import HTTPOperations
import LoopbackServer
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Servers that treat a connection in a hostile way.
@Suite(.timeLimit(.minutes(10))) struct HostileConnectionTests {
  /// A server that answers the first request, and closes the connection when it has read the second
  /// one. Further connections work.
  private static func serverThatClosesIdleConnections() throws -> LoopbackServer {
    try LoopbackServer { request, connection in
      if request.number == 1 { return }
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
      connection.keepOpen()
    }
  }

  @Test func `N2: a POST on an idle connection that is closed is sent once and not retried`()
    async throws
  {
    let server = try Self.serverThatClosesIdleConnections()
    let session = HTTPSession()
    let folder = try TemporaryFolder()
    _ = try await HTTPDataOperation(server.url("/first"), session: session).run().get()
    let end = await HostileTransfer.post.end(of: server.url("/order"), in: folder, session: session)
    #expect(end == .transfer(.connectionLost, isRetryable: false))
    #expect(server.requests.map { "\($0.method) \($0.path)" } == ["GET /first", "POST /order"])
  }

  // Nothing has to be read again, so libcurl itself could send it again.
  @Test func `N2: a POST without a body on an idle connection that is closed is sent once`()
    async throws
  {
    let server = try Self.serverThatClosesIdleConnections()
    let session = HTTPSession()
    _ = try await HTTPDataOperation(server.url("/first"), session: session).run().get()
    var request = URLRequest(url: server.url("/order"))
    request.httpMethod = "POST"
    let outcome = await HTTPDataOperation(request, session: session).run()
    #expect(HostileEnd(failureOf: outcome) == .transfer(.connectionLost, isRetryable: false))
    #expect(server.requests.map { "\($0.method) \($0.path)" } == ["GET /first", "POST /order"])
  }

  @Test func `N2: an upload by POST on an idle connection that is closed is sent once`()
    async throws
  {
    let session = HTTPSession()
    let folder = try TemporaryFolder()
    try Data(someBytes(300_000)).write(to: folder["file"])
    for source in [HTTPUploadSource.file(folder["file"]), .data(Data(someBytes(300_000)))] {
      let server = try Self.serverThatClosesIdleConnections()
      _ = try await HTTPDataOperation(server.url("/first"), session: session).run().get()
      let upload = HTTPUploadOperation(
        server.url("/order"), method: "POST", from: source, session: session)
      let end = HostileEnd(failureOf: await upload.run())
      #expect(end == .transfer(.connectionLost, isRetryable: false))
      #expect(server.requests.map(\.method) == ["GET", "POST"])
    }
  }

  @Test func `N2: a GET on an idle connection that is closed is sent again and succeeds`()
    async throws
  {
    let server = try Self.serverThatClosesIdleConnections()
    let session = HTTPSession()
    _ = try await HTTPDataOperation(server.url("/first"), session: session).run().get()
    let response = try await HTTPDataOperation(server.url("/next"), session: session).run().get()
    #expect(response.body == Data("ok".utf8))
    #expect(server.requests.map(\.path) == ["/first", "/next", "/next"])
  }

  @Test(arguments: [0, 1, 300_000])
  func `N2: a PUT of a file on an idle connection that is closed is sent again as a whole`(
    count: Int
  ) async throws {
    let server = try Self.serverThatClosesIdleConnections()
    let session = HTTPSession()
    let folder = try TemporaryFolder()
    let bytes = Data(someBytes(count))
    try bytes.write(to: folder["file"])
    _ = try await HTTPDataOperation(server.url("/first"), session: session).run().get()
    let upload = HTTPUploadOperation(
      server.url("/file"), from: .file(folder["file"]), session: session)
    #expect(try await upload.run().get().body == Data("ok".utf8))
    #expect(server.requests.map(\.path) == ["/first", "/file", "/file"])
    #expect(server.requests.dropFirst().allSatisfy { $0.body == bytes })
  }

  @Test func `a server that closes every connection gets a GET at most twice`() async throws {
    let server = try LoopbackServer { request, connection in
      if request.number > 0 { return }
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
      connection.keepOpen()
    }
    let session = HTTPSession()
    let folder = try TemporaryFolder()
    _ = try await HTTPDataOperation(server.url(), session: session).run().get()
    let end = await HostileTransfer.data.end(of: server.url(), in: folder, session: session)
    #expect(end == .lost)
    #expect(server.requests.count == 3)
  }

  @Test(arguments: ["HTTP/1.1 20", "HTTP/1.1 200 OK\r\nContent-Le"])
  func `N2: a POST whose response is cut on an idle connection is sent once`(
    response: String
  ) async throws {
    let server = try LoopbackServer { request, connection in
      if request.number == 1 {
        _ = connection.send(response)
        return
      }
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
      connection.keepOpen()
    }
    let session = HTTPSession()
    let folder = try TemporaryFolder()
    _ = try await HTTPDataOperation(server.url(), session: session).run().get()
    let end = await HostileTransfer.post.end(of: server.url(), in: folder, session: session)
    #expect(end == .transfer(.connectionLost, isRetryable: false))
    #expect(server.requests.count == 2)
  }

  @Test(arguments: [
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    "HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 304 Not Modified\r\n\r\n",
    "HTTP/1.1 302 Found\r\nLocation: /next\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno",
  ])
  func `N5: bytes after a response are not part of the next one`(response: String) async throws {
    // A whole response, which was not requested.
    let surplus = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
    let server = try LoopbackServer { request, connection in
      connection.send(
        request.path == "/next"
          ? "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext" : response + surplus)
      connection.keepOpen()
    }
    let session = HTTPSession()
    let folder = try TemporaryFolder()
    _ = await HostileTransfer.data.end(of: server.url(), in: folder, session: session)
    let end = await HostileTransfer.data.end(of: server.url("/next"), in: folder, session: session)
    #expect(end == .text("next"))
  }

  @Test func `N5: bytes that arrive between two responses are not part of the next one`()
    async throws
  {
    for transfer in [HostileTransfer.data, .post, .upload, .head] {
      let (isReceived, isSent) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let server = try LoopbackServer { request, connection in
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n")
        if request.method != "HEAD" { connection.send(request.path == "/" ? "root" : "next") }
        if request.path == "/" {
          isReceived.wait()
          // A whole response, which was not requested.
          connection.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
          isSent.signal()
        }
        connection.keepOpen()
      }
      let session = HTTPSession()
      let folder = try TemporaryFolder()
      _ = await HostileTransfer.data.end(of: server.url(), in: folder, session: session)
      isReceived.signal()
      await onNewThread { isSent.wait() }
      let end = await transfer.end(of: server.url("/next"), in: folder, session: session)
      #expect(end == .text(transfer == .head ? "" : "next"))
      #expect(server.requests.map(\.path) == ["/", "/next"])
    }
  }

  @Test func `an endless body can be cancelled`() async throws {
    let server = try LoopbackServer { _, connection in
      connection.send("HTTP/1.1 200 OK\r\n\r\n")
      while connection.send([UInt8](repeating: 0x41, count: 65_536)) {}
    }
    let (reports, continuation) = AsyncStream<Void>.makeStream()
    let folder = try TemporaryFolder()
    let download = HTTPDownloadOperation(server.url(), to: folder["file"], session: .longTimeout)
    let run = download.observed(by: BytesObserver { continuation.yield() }).start()
    for await _ in reports { break }
    run.cancel()
    #expect(await run.outcome.isCancelled)
    await server.waitForCloses(1)
    #expect(try folder.names() == [])
  }

  @Test(arguments: ["HTTP/1.1 404 Not Found", "HTTP/1.1 302 Found\r\nLocation: /"])
  func `N5: a request whose response does not end can be cancelled`(head: String) async throws {
    let server = try LoopbackServer { _, connection in
      connection.send(head + "\r\nContent-Length: 5\r\n\r\n")
      connection.waitForClose()
    }
    let run = HTTPDataOperation(server.url(), session: .longTimeout).start()
    await server.waitForRequests(1)
    run.cancel()
    #expect(await run.outcome.isCancelled)
    await server.waitForCloses(1)
  }

  @Test func `headers that arrive byte by byte do not delay the timeout`() async throws {
    let server = try LoopbackServer { _, connection in
      connection.send("HTTP/1.1 200 OK\r\nX: ")
      while connection.send("a") { usleep(20_000) }
    }
    var request = URLRequest(url: server.url())
    request.timeoutInterval = 1
    #expect(HostileEnd(failureOf: await HTTPDataOperation(request).run()) == .timedOut)
  }

  @Test func `a response that arrives byte by byte is complete`() async throws {
    let server = try LoopbackServer { _, connection in
      for byte in "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello".utf8 {
        connection.send([byte])
        usleep(1_000)
      }
    }
    let response = try await HTTPDataOperation(server.url()).run().get()
    #expect(response.body == Data("hello".utf8))
  }

  @Test func `a redirect to TLS on a port without it is an error`() async throws {
    let server = try LoopbackServer { request, connection in
      let target = "https://user:secret@\(request["Host"] ?? "")/target"
      connection.send(.init(302, headers: ["Location: \(target)"]))
    }
    let error = try #require(
      await HTTPDataOperation(server.url()).run().error as? HTTPTransferError)
    #expect(error.reason == .notSecure)
    #expect(!error.isRetryable)
    #expect(!"\(error)".contains("secret"))
  }

  @Test func `the credentials in a Location are not part of errors`() async throws {
    let server = try LoopbackServer { request, connection in
      if request.path == "/target" { return connection.send(.init(403)) }
      let target = "http://user:secret@\(request["Host"] ?? "")/target"
      connection.send(.init(302, headers: ["Location: \(target)"]))
    }
    let error = try #require(await HTTPDataOperation(server.url()).run().error as? HTTPStatusError)
    var dumped = ""
    dump(error, to: &dumped)
    #expect(!"\(error)".contains("secret"))
  }
}
