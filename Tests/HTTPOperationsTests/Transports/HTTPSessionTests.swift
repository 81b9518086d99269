import CompositeOperations
import Foundation
import HTTPOperations
import LoopbackServer
import TestSupport
import Testing

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
}
