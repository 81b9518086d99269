import CompositeOperations
import Foundation
import HTTPOperations
import LoopbackServer
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite struct HTTPSessionTests {
  @Test(.timeLimit(.minutes(10)), arguments: Transfer.allCases)
  func `a session and its connections end with the last operation that uses it`(
    transfer: Transfer
  ) async throws {
    let folder = try TemporaryFolder()
    let server = try LoopbackServer { _, connection in
      // The connection stays open for further requests.
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
      connection.waitForClose()
    }
    var session: HTTPSession? = HTTPSession()
    weak let leaked = session
    var operation = session.map { session in
      transfer.operation(on: server.url(), in: folder, session: session)
    }
    session = nil
    try await operation?.run().get()
    #expect(leaked != nil)
    operation = nil
    while leaked != nil { await Task.yield() }
    await server.waitForCloses(1)
  }

  @Test(.timeLimit(.minutes(10)))
  func `requests do not wait until another one to the same host has timed out`() async throws {
    // It accepts connections and does not answer the handshake of TLS.
    let server = try LoopbackServer { _, connection in connection.waitForClose() }
    let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/"))
    let session = HTTPSession()
    let hasEnded = Lock(false)
    let first = Task {
      _ = await HTTPDataOperation(url, session: session).run()
      hasEnded.withLock { $0 = true }
    }
    await server.waitForRequests(1)
    var request = URLRequest(url: url)
    request.timeoutInterval = 1
    async let second = HTTPDataOperation(request, session: session).run()
    async let third = HTTPDataOperation(request, session: session).run()
    for outcome in await [second, third] {
      #expect((outcome.error as? HTTPTransferError)?.reason == .timedOut, "\(outcome)")
    }
    // Its timeout is a minute.
    #expect(!hasEnded.withLock { $0 })
    first.cancel()
    await first.value
  }
}
