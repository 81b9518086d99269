import CompositeOperations
import Foundation
import HTTPOperations
import LoopbackServer
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The limits and the times of the phases of a request.
@Suite(.timeLimit(.minutes(10))) struct PhaseTests {
  private static func session(
    connect: Duration? = nil, response: Duration? = nil, idle: Duration = .seconds(3_600)
  ) -> HTTPSession {
    var configuration = HTTPConfiguration()
    configuration.connectTimeout = connect
    configuration.responseTimeout = response
    configuration.timeout = idle
    return HTTPSession(configuration)
  }

  private static func expectTimeout(
    _ timeout: HTTPTransferError.Timeout, _ text: String, wasSent: Bool,
    in outcome: Outcome<HTTPDataResponse>, _ location: SourceLocation = #_sourceLocation
  ) throws {
    let error = try #require(
      outcome.error as? HTTPTransferError, "\(outcome)", sourceLocation: location)
    #expect(error.reason == .timedOut && error.timeout == timeout, sourceLocation: location)
    #expect(error.wasSent == wasSent, sourceLocation: location)
    #expect("\(error)".contains(text), "\(error)", sourceLocation: location)
  }

  @Test func `N16: a connection that is not made in time is an error with the phase and its limit`()
    async throws
  {
    // One does not accept connections, and the other does not answer the handshake of TLS.
    let full = try FullServer()
    let silent = try LoopbackServer { _, connection in connection.waitForClose() }
    let session = Self.session(connect: .milliseconds(300), response: .seconds(3_600))
    for address in ["http://127.0.0.1:\(full.port)/", "https://127.0.0.1:\(silent.port)/"] {
      let url = try #require(URL(string: address))
      try Self.expectTimeout(
        .connect(.milliseconds(300)), "no connection within the connectTimeout of 300 ms",
        wasSent: false, in: await HTTPDataOperation(url, session: session).run())
    }
  }

  @Test(arguments: ["GET", "PUT"])
  func `N16: a response that does not begin in time is an error with the phase and its limit`(
    method: String
  ) async throws {
    let server = try LoopbackServer { _, connection in connection.waitForClose() }
    let session = Self.session(connect: .seconds(3_600), response: .milliseconds(300))
    let outcome =
      method == "GET"
      ? await HTTPDataOperation(server.url(), session: session).run()
      : await HTTPUploadOperation(
        server.url(), from: .data(Data(count: 100_000)), session: session
      ).run()
    try Self.expectTimeout(
      .response(.milliseconds(300)), "no response within the responseTimeout of 300 ms",
      wasSent: true, in: outcome)
  }

  @Test func `N16: the time in which a request is sent is not that of its response`() async throws {
    let gate = HeldResponse()
    // It takes nothing of the body, which is larger than the buffers of the connection.
    let server = try LoopbackServer(readingBodies: false) { _, _ in gate.wait() }
    let session = Self.session(
      connect: .seconds(3_600), response: .milliseconds(1), idle: .seconds(3))
    let upload = HTTPUploadOperation(
      server.url(), from: .data(Data(count: 64 << 20)), session: session)
    try Self.expectTimeout(
      .idle(.seconds(3)), "nothing was sent or received for 3 s", wasSent: true,
      in: await upload.run())
    gate.release()
  }

  @Test func `N16: the time of the body is not that of the response`() async throws {
    let server = try LoopbackServer { _, connection in
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")
      connection.waitForClose()
    }
    let session = Self.session(response: .seconds(10), idle: .seconds(10))
    try Self.expectTimeout(
      .idle(.seconds(10)), "nothing was sent or received for 10 s", wasSent: true,
      in: await HTTPDataOperation(server.url(), session: session).run())
  }

  @Test func `N16: the head has the times of the phases, without those of a kept connection`()
    async throws
  {
    let server = try LoopbackServer { _, connection in
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
      connection.keepOpen()
    }
    let session = Self.session()
    let fetch = HTTPDataOperation(server.url(), session: session)
    let first = try await fetch.run().get().head
    let second = try await fetch.run().get().head
    #expect(first == second && first.hashValue == second.hashValue)
    let (new, kept) = (try #require(first.timings), try #require(second.timings))
    #expect(new.nameLookup + new.connect > .zero && new.tls == .zero)
    #expect(kept.nameLookup == .zero && kept.connect == .zero && kept.tls == .zero)
    for times in [new, kept] {
      #expect(times.preTransfer >= times.nameLookup + times.connect + times.tls)
      #expect(times.firstByte > .zero && times.firstByte >= times.preTransfer)
    }
  }
}
