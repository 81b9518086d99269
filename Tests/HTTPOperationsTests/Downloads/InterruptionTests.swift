import CompositeOperations
import Foundation
import HTTPOperations
import LoopbackServer
import TestSupport
import Testing

/// Downloads that are interrupted at random positions.
@Suite struct InterruptionTests {
  private static let bytes = someBytes(1_000_000)

  @Test(.timeLimit(.minutes(10)))
  func `N3: a download that is interrupted at 200 random positions is the whole file`()
    async throws
  {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = OperationRandomness.seeded(seed)
    let folder = try TemporaryFolder()
    for number in 0..<20 {
      // Each attempt gets a part, the last one the rest.
      let ends = (0..<10).map { _ in Int.random(in: 0...Self.bytes.count, using: &random) }.sorted()
      let server = try LoopbackServer { request, connection in
        Self.send(request, to: connection, until: request.number < 10 ? ends[request.number] : nil)
      }
      let file = folder["file \(number)"]
      let outcome = await HTTPDownloadOperation(server.url(), to: file, session: .longTimeout)
        .retryingHTTP(attempts: 11, backoff: .none).run()
      #expect(outcome.result?.byteCount == Self.bytes.count, "seed \(seed): \(outcome)")
      #expect(try Data(contentsOf: file) == Data(Self.bytes), "seed \(seed)")
    }
  }

  @Test(.timeLimit(.minutes(10)))
  func `N3: a download whose process is killed is resumed by the next process`() async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = OperationRandomness.seeded(seed)
    let folder = try TemporaryFolder()
    let file = folder["file"]
    let lengths = (0..<5).map { _ in Int.random(in: 1...Self.bytes.count / 6, using: &random) }
    let server = try LoopbackServer { request, connection in
      let length = request.number < 5 ? lengths[request.number] : nil
      Self.send(request, to: connection, until: length.map { Self.start(of: request) + $0 })
      if length != nil { connection.waitForClose() }
    }
    for _ in lengths {
      await #expect(processExitsWith: .signal(SIGKILL), "seed \(seed)") {
        [url = server.url() as URL, file = file as URL] in
        // As soon as bytes have been written.
        let observer = BytesObserver { kill(getpid(), SIGKILL) }
        _ = await HTTPDownloadOperation(url, to: file).observed(by: observer).run()
      }
    }
    let result = try await HTTPDownloadOperation(server.url(), to: file).run().get()
    #expect(result.byteCount == Self.bytes.count)
    #expect(try Data(contentsOf: file) == Data(Self.bytes), "seed \(seed)")
    #expect(try folder.names() == ["file"])
    #expect(server.requests.map { $0["Range"] != nil } == [false] + lengths.map { _ in true })
  }

  /// Sends the requested part of the file, up to an offset; nil for all of it.
  private static func send(
    _ request: LoopbackRequest, to connection: LoopbackConnection, until end: Int?
  ) {
    let start = start(of: request)
    var response = LoopbackResponse(
      start == 0 ? 200 : 206, headers: [#"ETag: "v1""#],
      body: Array(bytes[start..<max(start, end ?? bytes.count)]), length: bytes.count - start)
    if start > 0 {
      response.headers.append("Content-Range: bytes \(start)-\(bytes.count - 1)/\(bytes.count)")
    }
    connection.send(response)
  }

  private static func start(of request: LoopbackRequest) -> Int {
    request["Range"].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
  }
}
