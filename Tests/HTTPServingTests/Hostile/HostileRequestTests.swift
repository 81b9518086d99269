import CompositeOperations
import HTTPServing
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct HostileRequestTests {
  /// Only a request that may end without a response may wait for the end of its time. Others have
  /// more time than a busy machine needs for them.
  @Test(arguments: [true, false])
  func `A1: the server refuses hostile requests, and answers the next good one`(mayEnd: Bool)
    async throws
  {
    let requests = HostileRequest.all.filter { $0.statuses.contains(0) == mayEnd }
    let token = "0123456789abcdef"
    var limits = ServerLimits()
    limits.requestTime = .seconds(mayEnd ? 3 : 90)
    limits.connections = 1_000
    limits.connectionsPerAddress = 1_000
    let paths = Lock<[String]>([])
    try await ServerFixture.with(token: token, limits: limits) { request in
      paths.withLock { $0.append(request.path) }
      return HTTPResponse(.text, "ok")
    } _: { server in
      let host = server.name
      let results = await withTaskGroup(of: (HostileRequest, String?).self) { group in
        for request in requests {
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
      #expect(results.count >= (mayEnd ? 40 : 120))
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
      if !mayEnd { #expect(paths.withLock { $0.contains("/%2e%2e/") }) }
      let good = await exchange(
        server.port, message(to: host, "Authorization: Bearer \(token)"))
      #expect(body(of: good) == "ok")
    }
  }
}
