import CompositeOperations
import Foundation
import HTTPOperations
import LoopbackServer
import Testing

/// Requests above the limit of connections to a host.
@Suite(.timeLimit(.minutes(10))) struct ConnectionWaitTests {
  private func session(connections: Int, wait: Duration = .seconds(3_600)) -> HTTPSession {
    var configuration = HTTPConfiguration()
    configuration.timeout = .seconds(3_600)
    configuration.connectionsPerHost = connections
    configuration.connectionWait = wait
    return HTTPSession(configuration)
  }

  @Test(arguments: [1, 3])
  func `N12: requests that wait too long for a connection end in an error that says so`(
    limit: Int
  ) async throws {
    let goesOn = DispatchSemaphore(value: 0)
    let server = try LoopbackServer { request, connection in
      if request.path == "/busy" { goesOn.wait() }
      connection.send(.init("answer"))
    }
    let session = session(connections: limit, wait: .seconds(1))
    let busy = (0..<limit).map { _ in
      HTTPDataOperation(server.url("/busy"), session: session).start()
    }
    await server.waitForRequests(limit)
    let waiting = HTTPUploadOperation(
      server.url("/waits"), method: "POST", from: .data(Data("x".utf8)), session: session)
    for outcome in await [waiting.run(), waiting.run()] {
      let error = try #require(outcome.error as? HTTPTransferError, "\(outcome)")
      #expect(error.reason == .connectionsInUse && error.isRetryable && !error.wasSent)
      #expect("\(error)".contains("no connection to 127.0.0.1 became free"), "\(error)")
      #expect("\(error)".contains("none of its \(limit) requests ended within 1"), "\(error)")
      #expect("\(error)".contains("raise the connectionsPerHost or the connectionWait"))
    }
    for _ in busy { goesOn.signal() }
    for run in busy { #expect(await run.outcome.result?.status == 200) }
    #expect(try await waiting.run().get().status == 200)
    #expect(server.requests.count { $0.path == "/waits" } == 1)
  }

  @Test(arguments: 1...3)
  func `N12: a request that would wait for its own streams is an error that says so`(
    limit: Int
  ) async throws {
    let server = try LoopbackServer { request, connection in
      if request.path == "/one" { return connection.send(.init("answer")) }
      connection.send(.init("begun", length: 100))
      connection.waitForClose()
    }
    let other = try LoopbackServer(.init("other"))
    let session = session(connections: limit)
    let one = HTTPDataOperation(server.url("/one"), session: session)
    let elsewhere = HTTPDataOperation(other.url(), session: session)
    let outcomes = try await Self.inStreams(limit, of: server.url(), session) {
      [await one.run(), await elsewhere.run()]
    }
    let error = try #require(outcomes[0].error as? HTTPTransferError, "\(outcomes)")
    #expect(error.reason == .deadlock && !error.isRetryable && !error.wasSent)
    #expect("\(error)".contains("deadlock: all connections to 127.0.0.1 are held"), "\(error)")
    #expect("\(error)".contains("connectionsPerHost is \(limit)"), "\(error)")
    #expect(outcomes[1].result?.status == 200)
    // With one stream less, and after the streams.
    for count in [limit - 1, 0] {
      let outcome = try await Self.inStreams(count, of: server.url(), session) { await one.run() }
      #expect(outcome.result?.status == 200, "\(outcome)")
    }
  }

  @Test func `N12: an upload whose sequence sends requests to its own host is an error`()
    async throws
  {
    let server = try LoopbackServer(.init("answer"))
    let session = session(connections: 1)
    let one = HTTPDataOperation(server.url("/one"), session: session)
    let upload = HTTPUploadOperation(
      server.url(), from: .stream { AsyncThrowingStream { Array(try await one.run().get().body) } },
      session: session)
    let error = try #require(await upload.run().error as? HTTPTransferError)
    #expect(error.reason == .deadlock && error.request.address.hasSuffix("/one"))
  }

  @Test func `N12: a task that outlives a stream does not count as a part of it`() async throws {
    let server = try LoopbackServer { request, connection in
      connection.send(.init("answer"))
    }
    let session = session(connections: 1)
    let (hasEnded, continuation) = AsyncStream<Void>.makeStream()
    let one = HTTPDataOperation(server.url("/one"), session: session)
    let task = try await HTTPStreamOperation(server.url(), session: session) { _ in
      Task {
        for await _ in hasEnded {}
        return await one.run()
      }
    }.run().get()
    continuation.finish()
    #expect(await task.value.result?.status == 200)
  }

  /// Calls a function inside a number of nested streams.
  private static func inStreams<Value: Sendable>(
    _ count: Int, of url: URL, _ session: HTTPSession,
    _ body: @escaping @Sendable () async -> Value
  ) async throws -> Value {
    if count == 0 { return await body() }
    return try await HTTPStreamOperation(url, session: session) { response in
      for try await _ in response { return try await inStreams(count - 1, of: url, session, body) }
      throw CancellationError()
    }.run().get()
  }
}
