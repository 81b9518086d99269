import CompositeOperations
import Foundation
import HTTPOperations
import LoopbackServer
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Hostile servers of HTTP/2. The session uses it without TLS.
@Suite(.timeLimit(.minutes(10))) struct HostileHTTP2Tests {
  @Test(.timeLimit(.minutes(10)), arguments: Group.allCases)
  func `N5: every hostile response of HTTP/2 has the expected end`(group: Group) async throws {
    try await withThrowingTaskGroup { tasks in
      for answer in group.answers {
        tasks.addTask {
          let server = try Self.server(answer)
          let folder = try TemporaryFolder()
          let session = Self.session(timeout: .seconds(answer.hasShortTimeout ? 1 : 300))
          let end = await HostileTransfer.data.end(of: server.url(), in: folder, session: session)
          #expect(end == answer.end, "\(answer.name)")
        }
      }
      try await tasks.waitForAll()
    }
  }

  enum Group: CaseIterable, Sendable {
    case valid, cut, invalidFrames, invalidSequences, invalidHeaders

    var answers: [HTTP2Answer] {
      switch self {
      case .valid: HTTP2Answer.valid
      case .cut: HTTP2Answer.cut
      case .invalidFrames: HTTP2Answer.invalidFrames
      case .invalidSequences: HTTP2Answer.invalidSequences
      case .invalidHeaders: HTTP2Answer.invalidHeaders
      }
    }
  }

  // libcurl 7.88 takes a violation that ends a connection for its regular end.
  @Test func `a violation of HTTP/2 within a body without a length is an error`() async throws {
    let server = try LoopbackServer { request, connection in
      let connection = HTTP2Connection(request, connection)
      connection.begin()
      guard let stream = connection.nextRequest() else { return }
      connection.send(.headers(stream, HPACK.ok), .data(stream, "hel"))
      // So that the client receives the parts one after the other.
      usleep(5_000)
      connection.send(HTTP2Frame.data(0, "evil"), .data(stream, "lo", ends: true))
      connection.waitForClose()
    }
    let folder = try TemporaryFolder()
    let session = Self.session(timeout: .seconds(1))
    let end = await HostileTransfer.data.end(of: server.url(), in: folder, session: session)
    withKnownIssue("a part of the body is delivered", isIntermittent: true) {
      #expect(end != .text("hel"))
    }
    #expect([.lost, .timedOut, .text("hel")].contains(end))
  }

  // With a buffer that is smaller than a frame, libcurl 7.88 does not notice the end.
  @Test(.timeLimit(.minutes(10)), arguments: [4_095, 4_097, 8_108, 10_000, 16_384])
  func `frames of HTTP/2 of any size arrive in full`(size: Int) async throws {
    let text = String(repeating: "a", count: size)
    let server = try LoopbackServer { request, connection in
      let connection = HTTP2Connection(request, connection)
      connection.begin()
      while let stream = connection.nextRequest() {
        connection.send(.headers(stream, HPACK.ok), .data(stream, text))
        connection.send(.data(stream, text, ends: true))
      }
    }
    let session = Self.session(timeout: .seconds(300))
    for _ in 0..<3 {
      let response = try await HTTPDataOperation(server.url(), session: session).run().get()
      #expect(response.body == Data((text + text).utf8))
    }
  }

  @Test func `many requests of HTTP/2 at the same time get whole bodies`() async throws {
    let server = try LoopbackServer { request, connection in
      let connection = HTTP2Connection(request, connection)
      connection.begin()
      while let stream = connection.nextRequest() {
        connection.send(.headers(stream, HPACK.ok))
        connection.send(.data(stream, "he"), .data(stream, "llo", ends: true))
      }
    }
    let session = Self.session(timeout: .seconds(300))
    let fetch = HTTPDataOperation(server.url(), session: session)
    let bodies = try await ParallelOperation((0..<100).map { _ in fetch }).run().get().map(\.body)
    #expect(bodies == Array(repeating: Data("hello".utf8), count: 100))
  }

  @Test func `requests of HTTP/2 one after the other get whole bodies`() async throws {
    let server = try Self.server(HTTP2Answer("", block: HPACK.ok, .text("hello")))
    let session = Self.session(timeout: .seconds(300))
    for _ in 0..<10 {
      let response = try await HTTPDataOperation(server.url(), session: session).run().get()
      #expect(response.body == Data("hello".utf8))
    }
  }

  private static func session(timeout: Duration) -> HTTPSession {
    var configuration = HTTPConfiguration()
    configuration.version = .http2
    configuration.timeout = timeout
    return HTTPSession(configuration)
  }

  private static func server(_ answer: HTTP2Answer) throws -> LoopbackServer {
    let count = Lock(0)
    return try LoopbackServer { request, connection in
      let connection = HTTP2Connection(request, connection)
      connection.begin()
      while let stream = connection.nextRequest() {
        let isFirst = count.withLock { count in
          count += 1
          return count == 1
        }
        if answer.isOnce, !isFirst {
          connection.send(.headers(stream, HPACK.ok), .data(stream, "hello", ends: true))
          continue
        }
        answer.send(connection, stream)
        if !answer.staysOpen { return }
      }
    }
  }
}
