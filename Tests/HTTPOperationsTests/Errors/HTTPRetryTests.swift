import CompositeOperations
import CompositeOperationsTestKit
import Foundation
import HTTPOperations
import LoopbackServer
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(10))) struct HTTPRetryTests {
  @Test(arguments: [408, 425, 429, 500, 502, 503, 504, 507, 520, 599])
  func `N2: a temporary status is retried`(status: Int) async throws {
    let server = try LoopbackServer(.init(status), .init("better"))
    let response = try await HTTPDataOperation(server.url())
      .retryingHTTP(backoff: .none).run().get()
    #expect(response.body == Data("better".utf8))
    #expect(server.requests.count == 2)
  }

  @Test(arguments: [400, 401, 403, 404, 409, 422, 499, 501, 505, 511])
  func `N2: a permanent status is not retried`(status: Int) async throws {
    let server = try LoopbackServer(.init(status), .init("better"))
    let outcome = await HTTPDataOperation(server.url()).retryingHTTP(backoff: .none).run()
    let errors = (outcome.error as? RetryError)?.errors ?? []
    #expect(errors.map { ($0 as? HTTPStatusError)?.status } == [status])
    #expect(server.requests.count == 1)
  }

  @Test func `a lost connection is retried up to the number of attempts`()
    async throws
  {
    let server = try LoopbackServer { _, connection in
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")
    }
    let outcome = await HTTPDataOperation(server.url())
      .retryingHTTP(attempts: 4, backoff: .none).run()
    #expect((outcome.error as? RetryError)?.errors.count == 4)
    #expect(server.requests.count == 4)
  }

  @Test(arguments: ["POST", "PATCH"])
  func `N2: a request that is not repeatable is sent once`(method: String) async throws {
    for response in [LoopbackResponse(503), LoopbackResponse("cut", length: 10)] {
      let server = try LoopbackServer(response)
      let operation = HTTPDataOperation(request(method, to: server)).retryingHTTP(backoff: .none)
      #expect(await operation.run().error is RetryError)
      #expect(server.requests.count == 1)
    }
  }

  @Test(arguments: ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"])
  func `requests with repeatable methods are retried`(method: String) async throws {
    let server = try LoopbackServer(.init(503), .init(204))
    let operation = HTTPDataOperation(request(method, to: server)).retryingHTTP(backoff: .none)
    #expect(try await operation.run().get().status == 204)
    #expect(server.requests.map(\.method) == [method, method])
  }

  @Test func `N2: a declaration that a request is repeatable or not overrides its method`()
    async throws
  {
    let server = try LoopbackServer(.init(503), .init(204), .init(503), .init(204))
    let declared = HTTPDataOperation(
      request("POST", to: server), options: .init(isRepeatable: true))
    #expect(try await declared.retryingHTTP(backoff: .none).run().get().status == 204)
    var keyed = request("POST", to: server)
    keyed.setValue("42", forHTTPHeaderField: "Idempotency-Key")
    let operation = HTTPDataOperation(keyed).retryingHTTP(backoff: .none)
    #expect(try await operation.run().get().status == 204)
    let failing = try LoopbackServer(.init(503))
    let never = HTTPDataOperation(
      request("GET", to: failing), options: .init(isRepeatable: false))
    let outcome = await never.retryingHTTP(backoff: .none).run()
    #expect((outcome.error as? RetryError)?.errors.count == 1)
    #expect(failing.requests.count == 1)
  }

  @Test func `N2: a POST that reached no server is retried`() async throws {
    var request = URLRequest(
      url: try #require(URL(string: "http://127.0.0.1:\(LoopbackServer.unusedPort())/")))
    request.httpMethod = "POST"
    let outcome = await HTTPDataOperation(request).retryingHTTP(backoff: .none).run()
    #expect((outcome.error as? RetryError)?.errors.count == 3)
  }

  @Test(arguments: [302, 303, 307, 308])
  func `N2: a POST that was redirected to an unreachable server is sent once`(status: Int)
    async throws
  {
    let place = "http://127.0.0.1:\(try LoopbackServer.unusedPort())/there"
    let server = try LoopbackServer(.init(status, headers: ["Location: \(place)"]))
    let operation = HTTPDataOperation(request("POST", to: server)).retryingHTTP(backoff: .none)
    let errors = try #require(await operation.run().error as? RetryError).errors
    #expect(errors.map { ($0 as? HTTPTransferError)?.reason } == [.cannotConnect])
    #expect(server.requests.count == 1)
  }

  // The name localhost also resolves to ::1, where the server does not listen.
  @Test func `N2: a POST that the second address of a host accepted is sent once`() async throws {
    let server = try LoopbackServer { _, _ in }
    var request = URLRequest(url: try #require(URL(string: "http://localhost:\(server.port)/")))
    request.httpMethod = "POST"
    let outcome = await HTTPDataOperation(request).retryingHTTP(backoff: .none).run()
    let errors = try #require(outcome.error as? RetryError).errors
    #expect(errors.map { ($0 as? HTTPTransferError)?.reason } == [.connectionLost], "\(errors)")
    #expect(server.requests.count == 1)
  }

  @Test func `N2: Retry-After delays a retry, in seconds or until a date of the server's clock`()
    async throws
  {
    let dates = [
      "Sun, 22 Nov 2026 10:02:00 GMT", "Sunday, 22-Nov-26 10:02:00 GMT", "Sun Nov 22 10:02:00 2026",
      "Sun, 1 Nov 2026 10:03:00 GMT", "Sun Nov  1 10:03:00 2026",
    ]
    let server = try LoopbackServer { request, connection in
      switch request.number {
      case 0: connection.send(.init(429, headers: ["Retry-After: 60"]))
      case 1...5:
        // Days below 10 should have two digits, but not every server sends them so.
        let day = request.number < 4 ? "22" : "01"
        connection.send(
          .init(
            503,
            headers: [
              "Date: Sun, \(day) Nov 2026 10:00:00 GMT",
              "Retry-After: \(dates[request.number - 1])",
            ]))
      case 6: connection.send(.init(503, headers: ["Retry-After: soon"]))
      default: connection.send(.init("at last"))
      }
    }
    let fetch = HTTPDataOperation(server.url())
      .retryingHTTP(attempts: 8, backoff: .constant(.seconds(7)))
    let delays = try await Self.delays(of: fetch, steps: 7)
    for (delay, advised) in zip(delays, [60, 120, 120, 120, 180, 180, 7]) {
      let longest = Duration.seconds(advised) * (advised == 7 ? 1 : 1.1)
      #expect(delay >= .seconds(advised) && delay <= longest)
    }
    #expect(delays.count == 7)
  }

  @Test(arguments: [86_400, 100_000])
  func `no retry begins before the time in Retry-After`(longest: Int) async throws {
    let server = try LoopbackServer(.init(429, headers: ["Retry-After: 86400"]), .init())
    let fetch = HTTPDataOperation(server.url())
      .retryingHTTP(backoff: .none, longestDelay: .seconds(longest))
    let delays = try await Self.delays(of: fetch, steps: 1)
    #expect(delays[0] >= .seconds(86_400) && delays[0] <= .seconds(min(longest, 95_040)))
  }

  @Test(.timeLimit(.minutes(10)))
  func `a Retry-After beyond the longest delay ends the attempts`()
    async throws
  {
    let server = try LoopbackServer(.init(429, headers: ["Retry-After: 301"]), .init())
    let outcome = await HTTPDataOperation(server.url()).retryingHTTP(backoff: .none).run()
    #expect((outcome.error as? RetryError)?.errors.count == 1)
    #expect(server.requests.count == 1)
  }

  @Test(arguments: [5, 3_600])
  func `N14: clients with the same Retry-After do not return at the same time, and none too early`(
    advised: Int
  ) async throws {
    let server = try LoopbackServer(.init(503, headers: ["Retry-After: \(advised)"]))
    let advisedDelay = Duration.seconds(advised)
    let fetch = HTTPDataOperation(server.url())
      .retryingHTTP(attempts: 2, backoff: .none, longestDelay: .seconds(100_000))
    var delays: [Duration] = []
    for seed in (0..<20).map(UInt64.init) + [7] {
      delays += try await Self.delays(of: fetch, steps: 1, randomness: .seeded(seed), fails: true)
    }
    #expect(delays.allSatisfy { $0 >= advisedDelay })
    #expect(delays.allSatisfy { $0 <= advisedDelay + max(advisedDelay / 10, .seconds(1)) })
    // The random numbers are those of the environment.
    #expect(delays[7] == delays[20])
    #expect(Set(delays).count == 20)
    // Not only a little.
    let most = delays.max() ?? .zero
    #expect(most > advisedDelay + max(advisedDelay / 20, .milliseconds(500)))
  }

  @Test func `a backoff is limited to the longest delay`() async throws {
    let server = try LoopbackServer(.init(503), .init())
    let fetch = HTTPDataOperation(server.url())
      .retryingHTTP(backoff: .constant(.seconds(60)), longestDelay: .seconds(10))
    #expect(try await Self.delays(of: fetch, steps: 1) == [.seconds(10)])
  }

  @Test func `the retry delay of a status error is limited to five minutes`() async throws {
    let server = try LoopbackServer(.init(429, headers: ["Retry-After: 99999999999999999999"]))
    let error = try #require(
      await HTTPDataOperation(server.url()).run().error as? HTTPStatusError)
    #expect(error.retryDelay == .seconds(300))
    #expect(error.retryAfter == .seconds(Int.max))
  }

  @Test func `cancelling a waiting retry ends it immediately`() async throws {
    let server = try LoopbackServer(.init(503, headers: ["Retry-After: 60"]))
    let clock = ManualClock()
    let run = HTTPDataOperation(server.url()).retryingHTTP()
      .start(in: OperationEnvironment(clock: clock))
    await clock.waitForSleepers(1)
    run.cancel()
    #expect(await run.outcome.isCancelled)
    #expect(server.requests.count == 1)
  }

  /// Runs an operation to its result and returns the delays between the attempts.
  private static func delays(
    of fetch: some ComposableOperation<HTTPDataResponse>, steps: Int,
    randomness: OperationRandomness = .system, fails: Bool = false
  ) async throws -> [Duration] {
    let clock = ManualClock()
    let observer = RecordingObserver()
    let run = fetch.start(
      in: OperationEnvironment(clock: clock, randomness: randomness, observers: [observer]))
    for _ in 0..<steps {
      await clock.waitForSleepers(1)
      clock.advance(by: .seconds(100_000))
    }
    let outcome = await run.outcome
    if !fails { _ = try outcome.get() }
    return observer.events.compactMap { event in
      if case .retryScheduled(_, let delay, _) = event.kind { delay } else { nil }
    }
  }

  private func request(_ method: String, to server: LoopbackServer) -> URLRequest {
    var request = URLRequest(url: server.url())
    request.httpMethod = method
    return request
  }
}
