import CompositeOperations
import HTTPOperations
import Testing

/// Many requests to one host at the same time.
@Suite(
  .enabled(if: NginxServer.isInstalled, "Requires nginx and openssl."), .timeLimit(.minutes(10)))
struct BurstTests {
  @Test func `a burst of requests to a host of HTTP/2 opens one connection`() async throws {
    let server = try await NginxServer("keepalive_requests 1000;")
    let session = HTTPSession(server.configuration)
    let gets = try (0..<60).map { HTTPDataOperation(try server.url("\($0)"), session: session) }
    #expect(try await ParallelOperation(gets, width: .limited(to: 60)).run().get().count == 60)
    let requests = try await server.end()
    #expect(requests.count == 60 && Set(requests.map(\.connection)).count == 1)
  }

  @Test func `a burst of requests to a host of HTTP/1 over TLS is answered`() async throws {
    let server = try await NginxServer("", protocols: "ssl")
    let session = HTTPSession(server.configuration)
    let gets = try (0..<60).map { HTTPDataOperation(try server.url("\($0)"), session: session) }
    #expect(try await ParallelOperation(gets, width: .limited(to: 60)).run().get().count == 60)
    #expect(try await server.end().count == 60)
  }
}
