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

  @Test func `a later change of a configuration does not affect its session`() async throws {
    let folder = try TemporaryFolder()
    let server = try LoopbackServer(.init())
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpAdditionalHeaders = ["X-Name": "first"]
    let session = HTTPSession(configuration)
    configuration.httpAdditionalHeaders = ["X-Name": "second"]
    for transfer in Transfer.allCases {
      let operation = transfer.operation(on: server.url(), in: folder, session: session)
      try await operation.run().get()
    }
    #expect(server.requests.map { $0["X-Name"] } == ["first", "first", "first"])
  }
}
