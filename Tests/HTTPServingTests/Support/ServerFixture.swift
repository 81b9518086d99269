import CompositeOperations
import HTTPServing
import Testing

/// A server on a free port that runs while a test uses it.
struct ServerFixture: Sendable {
  let address: ServerAddress
  let run: OperationRun<Void>

  var port: UInt16 { address.port }
  var name: String { "\(address)" }

  static func start(
    at text: String = "127.0.0.1:0", token: String? = nil, users: Set<UInt32>? = nil,
    limits: ServerLimits = ServerLimits(),
    methods: @escaping RequestGuard.Methods = { _ in nil }, handler: @escaping ServeHTTP.Handler
  ) async throws -> ServerFixture {
    let started = AsyncStream<ServerAddress>.makeStream()
    let run = ServeHTTP(
      at: try ServerAddress(text), token: token, users: users, limits: limits, methods: methods,
      onListening: { started.continuation.yield($0) }, handler: handler
    ).start()
    var addresses = started.stream.makeAsyncIterator()
    return ServerFixture(address: try #require(await addresses.next()), run: run)
  }

  /// Cancels the run, and waits for its end.
  func stop() async {
    run.cancel()
    let outcome = await run.outcome
    #expect(outcome.isCancelled, "\(outcome)")
  }

  /// Runs a body with a server, and stops it.
  static func with<Result>(
    token: String? = nil, limits: ServerLimits = ServerLimits(),
    handler: @escaping ServeHTTP.Handler = { _ in HTTPResponse(.text, "ok") },
    _ body: (ServerFixture) async throws -> Result
  ) async throws -> Result {
    let server = try await start(token: token, limits: limits, handler: handler)
    do {
      let result = try await body(server)
      await server.stop()
      return result
    } catch {
      await server.stop()
      throw error
    }
  }
}
