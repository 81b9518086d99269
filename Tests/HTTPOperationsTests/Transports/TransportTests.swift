import CompositeOperations
import Foundation
import HTTPOperations
import LoopbackServer
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The rules of HTTP on every transport. All other tests use the transport of the platform.
@Suite(.timeLimit(.minutes(10))) struct TransportTests {
  enum Transport: CaseIterable, Sendable {
    case ofPlatform, urlSession

    #if SANITIZER
      // Foundation leaks memory on Linux.
      static let allCases: [Transport] = [.ofPlatform]
    #endif

    var session: HTTPSession {
      var configuration = HTTPConfiguration()
      // Long, for slow machines.
      configuration.timeout = .seconds(3_600)
      return switch self {
      case .ofPlatform: HTTPSession(configuration)
      case .urlSession: HTTPSession(configuration, on: URLSessionTransport(configuration))
      }
    }
  }

  @Test(arguments: Transport.allCases)
  func `N1: every status from 400 is an error on every transport`(
    transport: Transport
  ) async throws {
    let server = try LoopbackServer(.init(404, headers: ["X-Name: value"], "no such page"))
    let outcome = await HTTPDataOperation(server.url(), session: transport.session).run()
    let error = try #require(outcome.error as? HTTPStatusError)
    #expect(error.status == 404 && error.headers["x-name"] == "value")
    #expect(error.body == Data("no such page".utf8))
  }

  @Test(arguments: Transport.allCases)
  func `N2: only a request that may be repeated is sent again on every transport`(
    transport: Transport
  ) async throws {
    for (method, count) in [("GET", 3), ("POST", 1)] {
      let server = try LoopbackServer(.init(503, "busy"))
      var request = URLRequest(url: server.url())
      request.httpMethod = method
      let fetch = HTTPDataOperation(request, session: transport.session)
      _ = await fetch.retryingHTTP(attempts: 3, backoff: .none).run()
      #expect(server.requests.map(\.method) == Array(repeating: method, count: count))
    }
    let port = try LoopbackServer.unusedPort()
    let url = try #require(URL(string: "http://127.0.0.1:\(port)/"))
    let post = HTTPUploadOperation(
      url, method: "POST", from: .data(Data([1])), session: transport.session)
    let error = try #require(await post.run().error as? HTTPTransferError)
    #expect(error.reason == .cannotConnect && error.isRetryable)
  }

  @Test(arguments: Transport.allCases)
  func `N3: an interrupted download is resumed on every transport`(
    transport: Transport
  ) async throws {
    let bytes = someBytes(1_000_000)
    let server = try LoopbackServer { request, connection in
      if request["Range"] == nil {
        connection.send(
          .init(headers: [#"ETag: "1""#], body: Array(bytes[..<400_000]), length: bytes.count))
      } else {
        connection.send(
          .init(
            206, headers: [#"ETag: "1""#, "Content-Range: bytes 400000-999999/1000000"],
            body: Array(bytes[400_000...])))
      }
    }
    let folder = try TemporaryFolder()
    let download = HTTPDownloadOperation(
      server.url(), to: folder["file"], session: transport.session)
    let result = try await download.retryingHTTP(backoff: .none).run().get()
    #expect(server.requests.map { $0["Range"] } == [nil, "bytes=400000-"])
    #expect(result.resumedByteCount == 400_000)
    #expect(try Data(contentsOf: folder["file"]) == Data(bytes))
  }

  @Test(arguments: Transport.allCases)
  func `N4: credentials are not sent to another server on any transport`(
    transport: Transport
  ) async throws {
    let other = try LoopbackServer(.init("other"))
    let server = try LoopbackServer(
      .init(302, headers: ["Location: /here"]),
      .init(302, headers: ["Location: \(other.url("/there"))"]))
    var request = URLRequest(url: server.url())
    request.setValue("secret", forHTTPHeaderField: "Authorization")
    request.setValue("kept", forHTTPHeaderField: "X-Other")
    _ = try await HTTPDataOperation(request, session: transport.session).run().get()
    #expect(server.requests.map { $0["Authorization"] } == ["secret", "secret"])
    #expect(other.requests.map { $0["Authorization"] } == [nil])
    #expect(other.requests.map { $0["X-Other"] } == ["kept"])
  }

  @Test(arguments: Transport.allCases)
  func `bodies of every kind are sent on every transport`(transport: Transport) async throws {
    let bytes = someBytes(700_000)
    let folder = try TemporaryFolder()
    try Data(bytes).write(to: folder["file"])
    let sources: [HTTPUploadSource] = [
      .data(Data(bytes)), .file(folder["file"]),
      .stream {
        AsyncStream { continuation in
          for start in stride(from: 0, to: bytes.count, by: 70_000) {
            continuation.yield(Array(bytes[start..<start + 70_000]))
          }
          continuation.finish()
        }
      },
    ]
    for source in sources {
      let server = try LoopbackServer(.init("thanks"))
      let progress = Lock<Int?>(nil)
      let upload = HTTPUploadOperation(server.url(), from: source, session: transport.session)
        .observed(by: SentObserver { count in progress.withLock { $0 = count } })
      #expect(try await upload.run().get().body == Data("thanks".utf8))
      #expect(server.requests.map(\.body) == [Data(bytes)])
      // Foundation on Linux does not report the end of a body.
      if transport == .ofPlatform { #expect(progress.withLock { $0 } == bytes.count) }
    }
  }

  @Test(.timeLimit(.minutes(10)), arguments: Transport.allCases)
  func `a large body arrives in full, and can be cancelled, on every transport`(
    transport: Transport
  ) async throws {
    let length = 16 << 20
    let server = try LoopbackServer { request, connection in
      connection.send(.init(length: length))
      let chunk = [UInt8](repeating: 97, count: 1 << 20)
      for _ in 0..<(request.path == "/cut" ? 1 : 16) { connection.send(chunk) }
      if request.path == "/cut" { connection.waitForClose() }
    }
    let session = transport.session
    let response = try await HTTPDataOperation(server.url(), session: session).run().get()
    #expect(response.body == Data(repeating: 97, count: length))
    let (begun, continuation) = AsyncStream<Void>.makeStream()
    let run = HTTPDataOperation(server.url("/cut"), session: session)
      .observed(by: BytesObserver { continuation.yield() }).start()
    for await _ in begun { break }
    run.cancel()
    #expect(await run.outcome.isCancelled)
    await server.waitForCloses(1)
  }
}

/// Receives the counts of progress events.
private final class SentObserver: OperationObserver {
  private let onProgress: @Sendable (Int) -> Void

  init(_ onProgress: @escaping @Sendable (Int) -> Void) { self.onProgress = onProgress }

  func observe(_ event: OperationEvent) {
    if case .progressed(let count, _, _) = event.kind { onProgress(count) }
  }
}
