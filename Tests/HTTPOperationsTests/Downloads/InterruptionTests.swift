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
    let server = try LoopbackServer { request, connection in
      Self.send(request, to: connection, until: nil)
    }
    for _ in 0..<5 {
      let limit = Int.random(in: 1...Self.bytes.count / 5, using: &random)
      await #expect(processExitsWith: .signal(SIGKILL), "seed \(seed)") {
        [url = server.url() as URL, file = file as URL, limit = limit as Int] in
        // The count includes the bytes of the processes before.
        let first = Lock<Int?>(nil)
        let download = HTTPDownloadOperation(url, to: file).observed(
          by: CountObserver { count in
            let start = first.withLock { first in
              first = first ?? count
              return first ?? 0
            }
            if count - start >= limit { kill(getpid(), SIGKILL) }
          })
        _ = await download.run()
        // The rest was shorter than the limit.
        kill(getpid(), SIGKILL)
      }
    }
    let result = try await HTTPDownloadOperation(server.url(), to: file).run().get()
    #expect(result.byteCount == Self.bytes.count)
    #expect(try Data(contentsOf: file) == Data(Self.bytes), "seed \(seed)")
    #expect(try folder.names() == ["file"])
    #expect(server.requests.contains { $0["Range"] != nil }, "seed \(seed)")
  }

  /// Sends the requested part of the file, up to an offset; nil for all of it.
  private static func send(
    _ request: LoopbackRequest, to connection: LoopbackConnection, until end: Int?
  ) {
    let start = request["Range"].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
    var response = LoopbackResponse(
      start == 0 ? 200 : 206, headers: [#"ETag: "v1""#],
      body: Array(bytes[start..<max(start, end ?? bytes.count)]), length: bytes.count - start)
    if start > 0 {
      response.headers.append("Content-Range: bytes \(start)-\(bytes.count - 1)/\(bytes.count)")
    }
    connection.send(response)
  }
}

/// Calls a function with every count of progress.
private final class CountObserver: OperationObserver {
  private let onCount: @Sendable (Int) -> Void

  init(_ onCount: @escaping @Sendable (Int) -> Void) { self.onCount = onCount }

  func observe(_ event: OperationEvent) {
    if case .progressed(let count, _, _) = event.kind { onCount(count) }
  }
}
