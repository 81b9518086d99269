import CompositeOperations
import HTTPServing
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct HostileRequestTests {
  @Test func `A1: the server refuses hostile requests, and answers the next good one`() async throws
  {
    let token = "0123456789abcdef"
    var limits = ServerLimits()
    limits.requestTime = .seconds(3)
    limits.connections = 1_000
    limits.connectionsPerAddress = 1_000
    let paths = Lock<[String]>([])
    try await ServerFixture.with(token: token, limits: limits) { request in
      paths.withLock { $0.append(request.path) }
      return HTTPResponse(.text, "ok")
    } _: { server in
      let host = server.name
      let results = await withTaskGroup(of: (HostileRequest, String?).self) { group in
        for request in HostileRequest.all {
          group.addTask {
            let response = await onNewThread { () -> String? in
              let bytes = request.bytes(host: host, token: token)
              guard let client = try? RawClient(server.port) else { return nil }
              client.send(bytes)
              if request.isHalfClosed { client.endSending() }
              return client.receiveAll()
            }
            return (request, response)
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(results.count >= 150)
      for (request, response) in results {
        let code = status(of: response)
        #expect(code.map(request.statuses.contains) == true, "\(request): \(response ?? "nothing")")
        // The rest of a refused request is never read as another one. libmicrohttpd 0.9.75 repeats
        // the status line of some of its own errors.
        let lines = (response ?? "").matches(of: /HTTP\/1\.1 \d{3}/).map(\.output)
        #expect(Set(lines).count <= 1, "\(request): \(lines)")
      }
      // libmicrohttpd may close a connection whose client has closed its end, without a response.
      let reaching = results.filter { status(of: $0.1) == 200 && !$0.0.isHalfClosed }
      #expect(paths.withLock { $0.filter { $0 != "/half-closed" }.count } == reaching.count)
      // Decoded once.
      #expect(paths.withLock { $0.contains("/%2e%2e/") })
      let good = await exchange(
        server.port, message(to: host, "Authorization: Bearer \(token)"))
      #expect(body(of: good) == "ok")
    }
  }
}
