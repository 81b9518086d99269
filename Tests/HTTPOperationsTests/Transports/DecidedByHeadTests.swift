import CompositeOperations
import Foundation
import HTTPOperations
import LoopbackServer
import Testing

/// Responses whose head says everything, and whose body has no end.
@Suite(.timeLimit(.minutes(2))) struct DecidedByHeadTests {
  enum Body: CaseIterable, Sendable {
    case zeros, silence, drops, compressedZeros, compressedNothing

    func send(on connection: LoopbackConnection, _ status: Int, _ location: String) {
      var headers = ["Location: \(location)"]
      if [.compressedZeros, .compressedNothing].contains(self) {
        headers.append("Content-Encoding: gzip")
      }
      connection.send(.init(status, headers: headers, length: -1))
      switch self {
      case .zeros: while connection.send([UInt8](repeating: 0, count: 65_536)) {}
      case .silence:
        connection.send("begun")
        connection.waitForClose()
      case .drops: while connection.send([0x20]) { usleep(100_000) }
      case .compressedZeros:
        let zeros = compressed([UInt8](repeating: 0, count: 1 << 20))
        while connection.send(zeros) {}
      case .compressedNothing:
        // A header, then blocks without content, which are not the last ones.
        connection.send([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3])
        let blocks = Array(repeatElement([0, 0, 0, 0xFF, 0xFF] as [UInt8], count: 10_000).joined())
        while connection.send(blocks) {}
      }
    }
  }

  @Test(arguments: Body.allCases)
  func `N11: a body without an end does not hold the redirect that it is part of`(
    body: Body
  ) async throws {
    let end = try LoopbackServer(.init("arrived"))
    let server = try LoopbackServer { _, connection in
      body.send(on: connection, 302, "\(end.url("/end"))")
    }
    let fetch = HTTPDataOperation(server.url(), session: .longTimeout)
    #expect(try await fetch.run().get().body == Data("arrived".utf8))
    await server.waitForCloses(1)
  }

  @Test(arguments: [Body.zeros, .silence])
  func `N11: a body without an end does not hold an export that is redirected`(
    body: Body
  ) async throws {
    let server = try LoopbackServer { _, connection in body.send(on: connection, 302, "/") }
    let exporter = OpenTelemetryExporter(to: server.url(), session: .longTimeout)
    let trace = await trace(of: 1)
    let error = await #expect(throws: OpenTelemetryExportError.self) {
      try await exporter.export(trace)
    }
    guard case .refused(302, _) = error?.reason else {
      Issue.record("\(String(describing: error))")
      return
    }
    await server.waitForCloses(1)
  }

  @Test(arguments: Body.allCases)
  func `N11: a body without an end does not hold the error that it is part of`(
    body: Body
  ) async throws {
    let server = try LoopbackServer { request, connection in
      if request.number > 0 { return connection.send(.init("better")) }
      body.send(on: connection, 503, "/")
    }
    let fetch = HTTPDataOperation(server.url(), session: .longTimeout)
    let error = try #require(await fetch.run().error as? HTTPStatusError)
    #expect(error.status == 503 && error.body.count <= 4_096)
    if body == .silence { #expect(error.body == Data("begun".utf8)) }
    await server.waitForCloses(1)
    #expect(try await fetch.run().get().body == Data("better".utf8))
  }
}
