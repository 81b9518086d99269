import Foundation
import HTTPServing
import SystemSupport
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct FileResponseTests {
  private static let size = 20_000_000

  /// Serves a file of 20 MB.
  private func serving(
    limits: ServerLimits = ServerLimits(), _ body: (ServerFixture, String) async throws -> Void
  ) async throws {
    let path = NSTemporaryDirectory() + UUID().uuidString
    try Data(repeating: 0x61, count: Self.size).write(to: URL(fileURLWithPath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    try await ServerFixture.with(limits: limits) { _ in
      guard let file = try? FileDescriptor.open(path, .readOnly) else {
        return HTTPResponse(.text, "no file", status: 500)
      }
      return HTTPResponse(.text, ResponseFile(file, size: Self.size))
    } _: { server in
      try await body(server, path)
    }
  }

  @Test func `A2: a client that needs longer than the limit for a large file receives all of it`()
    async throws
  {
    var limits = ServerLimits()
    limits.responseTime = .milliseconds(400)
    try await serving(limits: limits) { server, _ in
      let count = await onNewThread { () -> Int in
        guard let client = try? RawClient(server.port) else { return -1 }
        client.send(message(to: server.name))
        // The buffers of the system have 10 MB at most, so these reads keep the server waiting.
        var (count, next) = (0, 0)
        while count < Self.size, let part = client.receive(), !part.isEmpty {
          count += part.count
          if count >= next {
            usleep(100_000)
            next += Self.size / 12
          }
        }
        return count
      }
      #expect(count >= Self.size)
    }
  }

  @Test func `A2: a file that becomes shorter ends the connection`() async throws {
    try await serving { server, path in
      let count = await onNewThread { () -> Int in
        guard let client = try? RawClient(server.port) else { return -1 }
        client.send(message(to: server.name))
        var count = client.receive()?.count ?? 0
        _ = unsafe truncate(path, 100)
        while let part = client.receive(), !part.isEmpty { count += part.count }
        return count
      }
      #expect(count > 0 && count < Self.size)
    }
  }
}
