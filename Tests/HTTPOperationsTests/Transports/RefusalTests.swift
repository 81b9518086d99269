import CompositeOperations
import Foundation
import HTTPOperations
import LoopbackServer
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Requests that a server of HTTP/2 guarantees not to have processed.
@Suite(.timeLimit(.minutes(10))) struct RefusalTests {
  @Test(
    .enabled(if: NginxServer.isInstalled, "Requires nginx and openssl."), arguments: [true, false])
  func `N2: no POST is lost or processed twice if a server retires connections`(
    readsBodies: Bool
  ) async throws {
    let server = try await NginxServer("keepalive_requests 20;", readsBodies: readsBodies)
    let count = 2_000
    let session = HTTPSession(server.configuration)
    let posts = try (0..<count).map { index in
      HTTPDataOperation(try Self.post(to: server.url("\(index)")), session: session)
    }
    let outcomes = try await ParallelOperation(posts, width: .limited(to: 64))
      .collectingOutcomes().run().get()
    let processed = try await server.end().map(\.query)
    #expect(processed.count == count && Set(processed).count == count)
    for error in outcomes.compactMap(\.error) {
      // libcurl 7.88 may drop a response that arrives before the request is sent. The server has
      // processed it, so it must not be sent again.
      let error = try #require(error as? HTTPTransferError)
      #expect(!readsBodies && error.wasSent && !error.isRetryable, "\(error)")
    }
  }

  @Test(arguments: ["refused", "GOAWAY"], [nil, "data", "file", "stream"])
  func `N2: a POST that a server refuses without processing it is sent again with its body`(
    way: String, body: String?
  ) async throws {
    let server = try RefusingServer(3, by: way)
    let folder = try TemporaryFolder()
    let text = String(repeating: "order ", count: 100)
    let file = try folder.write(text, to: "order")
    let source: HTTPUploadSource? =
      switch body {
      case "data": .data(Data(text.utf8))
      case "file": .file(file)
      case "stream":
        .stream {
          AsyncStream {
            $0.yield(Array(text.utf8))
            $0.finish()
          }
        }
      default: nil
      }
    let session = Self.session()
    var request = URLRequest(url: server.url)
    request.httpMethod = "POST"
    let outcome =
      if let source {
        await HTTPUploadOperation(request, from: source, session: session).run()
      } else {
        await HTTPDataOperation(request, session: session).run()
      }
    #expect(outcome.result?.status == 200, "\(outcome)")
    #expect(server.bodies == Array(repeating: body == nil ? "" : text, count: 4))
  }

  @Test(arguments: ["refused", "GOAWAY"])
  func `N2: a server that refuses a request each time gets a limited number of them`(
    way: String
  ) async throws {
    let server = try RefusingServer(.max, by: way)
    let outcome = await HTTPDataOperation(
      try Self.post(to: server.url), session: Self.session()
    ).run()
    let error = try #require(outcome.error as? HTTPTransferError, "\(outcome)")
    #expect(error.reason == .connectionLost && !error.wasSent && error.isRetryable)
    #expect("\(error)".contains("the server refused the request without processing it"))
    #expect(server.bodies.count == 6)
  }

  @Test(arguments: ["reset", "closed", "GOAWAY after"])
  func `N2: a POST that a server of HTTP/2 may have processed is sent once`(
    way: String
  ) async throws {
    let server = try RefusingServer(.max, by: way)
    let outcome = await HTTPDataOperation(
      try Self.post(to: server.url), session: Self.session()
    ).run()
    let error = try #require(outcome.error as? HTTPTransferError, "\(outcome)")
    #expect(!error.isRetryable && error.wasSent, "\(error)")
    #expect(server.bodies.count == 1)
  }

  private static func post(to url: URL) throws -> URLRequest {
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    request.httpBody = Data("x".utf8)
    return request
  }

  private static func session() -> HTTPSession {
    var configuration = HTTPConfiguration()
    configuration.version = .http2
    return HTTPSession(configuration)
  }
}

/// A server of HTTP/2 that ends requests in a way, and answers the next ones.
private final class RefusingServer: Sendable {
  private let server: LoopbackServer
  private let received: ReceivedBodies

  /// - Parameter count: How many requests it ends.
  init(_ count: Int, by way: String) throws {
    let received = ReceivedBodies()
    self.received = received
    server = try LoopbackServer { request, connection in
      let connection = HTTP2Connection(request, connection)
      connection.begin()
      while let stream = connection.nextRequest() {
        if received.add(connection.body) > count {
          connection.send(.headers(stream, HPACK.ok), .data(stream, "ok", ends: true))
          continue
        }
        switch way {
        case "refused": connection.send(.reset(stream, 7))
        case "GOAWAY": connection.send(.goAway(last: stream - 1, 0))
        // Another code than the one of a refused stream.
        case "reset": connection.send(.reset(stream, 2))
        case "GOAWAY after": connection.send(.goAway(last: stream, 0), .reset(stream, 2))
        default: return
        }
      }
    }
  }

  var url: URL { server.url() }
  /// The bodies of the requests.
  var bodies: [String] { received.bodies.withLock { $0 } }

  private final class ReceivedBodies: Sendable {
    let bodies = Lock<[String]>([])

    func add(_ body: [UInt8]) -> Int {
      bodies.withLock { bodies in
        bodies.append(String(decoding: body, as: UTF8.self))
        return bodies.count
      }
    }
  }
}
