import CompositeOperations
import CompositeOperationsTestKit
import Foundation
import HTTPOperations
import HeapUse
import LoopbackServer
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Responses that are changed at random. `COMPOSITE_TEST_DEPTH=full` sends 100,000 of them, and
/// `COMPOSITE_HOSTILE_SEED=7` those of that seed.
@Suite struct HostileFuzzTests {
  // In a child process, because a crash would end it, and because other tests open and close
  // descriptors at the same time.
  @Test(.timeLimit(.minutes(10)))
  func `N5: changed responses do not crash, do not hang and leave no descriptors or memory`() async
  {
    await #expect(processExitsWith: .success) {
      let environment = ProcessInfo.processInfo.environment
      let seed =
        environment["COMPOSITE_HOSTILE_SEED"].flatMap(UInt64.init)
        ?? UInt64.random(in: 0...UInt64.max)
      let count = environment["COMPOSITE_TEST_DEPTH"] == "full" ? 100_000 : 10_000
      // Opens the threads and the allocations that stay.
      _ = try await FuzzedServer.requestAll(2_000, seed: seed, .http1)
      _ = try await FuzzedServer.requestAll(1_000, seed: seed, .http2)
      let before = try await FuzzedServer.resources(atMost: nil)
      var bodies = 0
      // Each server has a log of its requests.
      for round in 0..<UInt64(10) {
        bodies += try await FuzzedServer.requestAll(count / 10, seed: seed &+ round, .http1)
        bodies += try await FuzzedServer.requestAll(count / 100, seed: seed &+ round, .http2)
      }
      let after = try await FuzzedServer.resources(atMost: before.descriptors)
      let comment = Comment(rawValue: "seed \(seed): \(after), before \(before)")
      #expect(after.descriptors <= before.descriptors, comment)
      // The testing library keeps a backtrace of about 150 bytes for each error that is thrown.
      #expect(after.memory < before.memory + (4 << 20) + 200 * count, comment)
      // Both are common, or the changes are too small or too large.
      #expect(bodies > count / 20 && bodies < count, "seed \(seed): \(bodies) bodies")
    }
  }
}

/// A server that sends changed responses, also on kept connections.
private final class FuzzedServer: Sendable {
  private let server: LoopbackServer
  private let bodies = Lock(0)

  private init(seed: UInt64, _ version: HTTPConfiguration.Version) throws {
    let originals =
      version == .http2
      ? Self.sequences : ValidAnswer.all.map(\.bytes) + [Self.redirect, Self.kept, Self.kept]
    let mutator = Lock(AnswerMutator(originals, seed: seed))
    let kept = Lock(OperationRandomness.seeded(seed))
    server = try LoopbackServer { request, connection in
      let answer = mutator.withLock { $0.next() }
      if version == .http2 {
        let connection = HTTP2Connection(request, connection)
        connection.begin()
        if connection.nextRequest() != nil { connection.send(answer) }
        return
      }
      connection.send(answer)
      // A client that waits for more bytes than there are gets the end of the connection.
      if kept.withLock({ Bool.random(using: &$0) }) { connection.keepOpen(milliseconds: 20) }
    }
  }

  private static let redirect = Array(
    "HTTP/1.1 302 Found\r\nLocation: /next?a=b\r\nContent-Length: 0\r\n\r\n".utf8)
  private static let kept = Array(
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello".utf8)

  /// The frames of valid responses to the first request of a connection.
  private static let sequences: [[UInt8]] = [
    [.headers(1, HPACK.ok), .data(1, "hel"), .data(1, "lo", ends: true)],
    [
      .headers(1, HPACK.ok + HPACK.fields(("content-length", "5"), ("x", "y"))),
      HTTP2Frame(.ping, [1, 2, 3, 4, 5, 6, 7, 8]), .windowUpdate(1, 100),
      .data(1, "hello", ends: true), .goAway(last: 1, 0),
    ],
    [
      .settings((3, 10), (4, 65_536)), .headers(1, HPACK.fields((":status", "103"))),
      .headers(1, HPACK.ok, flags: 0),
      HTTP2Frame(.continuation, flags: HTTP2Frame.endHeaders, stream: 1, HPACK.fields(("x", "y"))),
      .data(1, "hello"), .headers(1, HPACK.fields(("digest", "z")), flags: 5),
    ],
    [.headers(1, HPACK.ok), .data(1, "hel"), .reset(1, 8)],
  ].map { (frames: [HTTP2Frame]) in frames.flatMap(\.bytes) }

  /// Sends requests, 64 at a time. Every request ends, in a whole body or in a clear error.
  ///
  /// - Returns: The number of bodies.
  static func requestAll(
    _ count: Int, seed: UInt64, _ version: HTTPConfiguration.Version
  ) async throws -> Int {
    let server = try FuzzedServer(seed: seed, version)
    var configuration = HTTPConfiguration()
    configuration.version = version
    configuration.timeout = .seconds(10)
    configuration.connectionsPerHost = 64
    let session = HTTPSession(configuration)
    await withTaskGroup { group in
      for worker in 0..<64 {
        group.addTask {
          for number in stride(from: worker, to: count, by: 64) {
            await server.request(number, session)
          }
        }
      }
    }
    return server.bodies.withLock { $0 }
  }

  private func request(_ number: Int, _ session: HTTPSession) async {
    let options = HTTPRequestOptions(redirects: .followed(atMost: 3), bodyLimit: 1 << 20)
    var request = URLRequest(url: server.url("/\(number)"))
    switch number % 4 {
    case 0:
      request.httpMethod = "POST"
      request.httpBody = Data("order".utf8)
    case 1: request.httpMethod = "HEAD"
    default: break
    }
    let outcome = await HTTPDataOperation(request, options: options, session: session).run()
    if outcome.result != nil {
      bodies.withLock { $0 += 1 }
    } else if case .unclear(let text) = HostileEnd(failureOf: outcome) {
      Issue.record("no clear error: \(text)")
    }
  }

  struct Resources {
    let descriptors: Int
    /// The bytes that are allocated.
    let memory: Int
  }

  /// The descriptors and the memory of this process.
  ///
  /// - Parameter limit: Waits until there are no more descriptors than this. Connections end by
  ///   themselves soon.
  static func resources(atMost limit: Int?) async throws -> Resources {
    let end = ContinuousClock.now + .seconds(30)
    var count = try ResourceCounts.now.descriptors
    var isStable = false
    while ContinuousClock.now < end, limit.map({ count > $0 }) ?? !isStable {
      await onNewThread { _ = usleep(100_000) }
      let next = try ResourceCounts.now.descriptors
      isStable = next == count
      count = next
    }
    return Resources(descriptors: count, memory: Int(heap_bytes_in_use()))
  }
}
