import CompositeOperations
import Foundation
import HTTPServing
import HeapUse
import SystemSupport
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct LimitTests {
  private static var limits: ServerLimits {
    var limits = ServerLimits()
    limits.requestTime = .milliseconds(500)
    limits.idleTime = .milliseconds(100)
    limits.responseTime = .milliseconds(500)
    return limits
  }

  @Test(arguments: [
    "GET / HTTP/1.1\r\nHost: {host}\r\nX: ",
    "POST / HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nContent-Length: 100000\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: {host}\r\n\r\nGET / HTTP/1.1\r\nHost: {host}\r\nX: ", "GET /",
  ])
  func `A2: a client that sends a byte at a time has a limited time`(start: String) async throws {
    try await ServerFixture.with(limits: Self.limits) { server in
      let isClosed = await onNewThread { () -> Bool in
        let start = start.replacing("{host}", with: server.name)
        for _ in 0..<attempts {
          guard let client = try? RawClient(server.port) else { return false }
          client.send(start)
          if start.contains("\r\n\r\nGET"), client.receive(until: "ok") == nil { continue }
          var count = 0
          while !client.isReadable(within: 10), client.send("a"), count < 10_000 { count += 1 }
          return client.receiveAll() != nil && count < 10_000
        }
        return false
      }
      #expect(isClosed)
      #expect(body(of: await answer(of: server)) == "ok")
    }
  }

  @Test func `A2: an idle connection is closed`() async throws {
    try await ServerFixture.with(limits: Self.limits) { server in
      let text = await onNewThread { () -> String? in
        for _ in 0..<attempts {
          guard let client = try? RawClient(server.port) else { return nil }
          client.send("GET / HTTP/1.1\r\nHost: \(server.name)\r\n\r\n")
          let response = client.receiveAll()
          if response?.isEmpty != true { return response }
        }
        return nil
      }
      #expect(text?.hasSuffix("ok") == true)
    }
  }

  @Test func `A2: a client that does not read its response loses the connection`() async throws {
    var limits = Self.limits
    limits.connections = 1
    try await ServerFixture.with(limits: limits) { request in
      request.path == "/large"
        ? HTTPResponse(.text, [UInt8](repeating: 0x61, count: 50_000_000))
        : HTTPResponse(.text, "ok")
    } _: { server in
      let client = try RawClient(server.port)
      client.send(message("GET /large HTTP/1.1", to: server.name))
      // Waits until the first connection is closed.
      #expect(body(of: await answer(of: server)) == "ok")
      client.close()
    }
  }

  @Test func `A2: a handler has no time limit`() async throws {
    try await ServerFixture.with(limits: Self.limits) { _ in
      try? await Task.sleep(for: .seconds(1))
      return HTTPResponse(.text, "late")
    } _: { server in
      #expect(body(of: await answer(of: server)) == "late")
    }
  }

  @Test(arguments: [false, true])
  func `A2: a body of one byte more than the limit is refused`(isChunked: Bool) async throws {
    var limits = ServerLimits()
    limits.bodySize = 10
    let token = "0123456789abcdef"
    try await ServerFixture.with(token: token, limits: limits) { request in
      HTTPResponse(.text, "\(request.body.count)")
    } _: { server in
      for (size, expected, text) in [(10, 200, "10"), (11, 413, nil)] as [(Int, Int, String?)] {
        let data = String(repeating: "a", count: size)
        let hex = String(size, radix: 16)
        let response = await exchange(
          server.port,
          message(
            "POST / HTTP/1.1", to: server.name, "Origin: http://\(server.name)",
            isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(size)",
            "Authorization: Bearer \(token)",
            body: isChunked ? "\(hex)\r\n\(data)\r\n0\r\n\r\n" : data))
        #expect(status(of: response) == expected)
        if let text { #expect(body(of: response) == text) }
      }
    }
  }

  @Test func `A2: the connections of one address are limited`() async throws {
    var limits = ServerLimits()
    limits.connectionsPerAddress = 5
    try await ServerFixture.with(limits: limits) { server in
      let clients = try (0..<5).map { _ in try RawClient(server.port) }
      let refused = await exchange(server.port, message(to: server.name))
      #expect(refused?.isEmpty == true)
      let next = await onNewThread { () -> String? in
        clients[0].send(message(to: server.name))
        return clients[0].receiveAll()
      }
      #expect(body(of: next) == "ok")
    }
  }

  #if os(Linux)
    @Test func `A2: the connections of one address leave room for clients with other addresses`()
      async throws
    {
      var limits = ServerLimits()
      #expect(limits.connections >= 4 * limits.connectionsPerAddress)
      (limits.connections, limits.connectionsPerAddress) = (20, 5)
      try await ServerFixture.with(limits: limits) { server in
        // More than the server takes from all addresses at once.
        let clients = try (0..<30).map { _ in
          try RawClient(server.port, from: 1)
        }
        let refused = await exchange(server.port, from: 1, message(to: server.name))
        #expect(refused?.isEmpty == true)
        let other = await exchange(server.port, from: 2, message(to: server.name))
        #expect(body(of: other) == "ok")
        for client in clients { client.close() }
        #expect(body(of: await answer(of: server, from: 1)) == "ok")
      }
    }

    @Test func `A2: connections without a request end after the time for a header`() async throws {
      var limits = Self.limits
      limits.connectionsPerAddress = 5
      try await ServerFixture.with(limits: limits) { server in
        let clients = try (0..<5).map { _ in try RawClient(server.port, from: 1) }
        let ends = await onNewThread { clients.map { $0.receiveAll() } }
        #expect(ends == Array(repeating: "", count: 5))
        #expect(body(of: await answer(of: server, from: 1)) == "ok")
      }
    }
  #endif

  @Test func `A2: 1,000 connections at once are served or refused`() async {
    await #expect(processExitsWith: .success) {
      var files = rlimit(rlim_cur: 4_096, rlim_max: 4_096)
      _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
      for perAddress in [1_000, 50] {
        var limits = ServerLimits()
        limits.connections = 100
        limits.connectionsPerAddress = perAddress
        limits.requestTime = .seconds(60)
        try await ServerFixture.with(limits: limits) { server in
          let counts = try await onNewThread { () -> Result<(Int, Int), any Error> in
            Result {
              let clients = try (0..<1_000).map { _ in try RawClient(server.port) }
              for client in clients { client.send(message(to: server.name)) }
              let responses = clients.map { $0.receiveAll() }
              return (
                responses.count { $0?.hasSuffix("ok") == true },
                responses.count { $0?.isEmpty == true }
              )
            }
          }.get()
          if perAddress == 50 {
            #expect(counts.0 >= 50 && counts.0 + counts.1 == 1_000)
          } else {
            #expect(counts.0 == 1_000)
          }
          #expect(body(of: await exchange(server.port, message(to: server.name))) == "ok")
        }
      }
    }
  }

  /// The sanitizers keep freed memory.
  @Test(.enabled(if: !isSanitized)) func `A2: memory is the same after 20,000 requests`() async {
    await #expect(processExitsWith: .success) {
      try await ServerFixture.with { server in
        let send = { (count: Int) async in
          await onNewThread { () -> Bool in
            for _ in 0..<(count / 10) {
              guard let client = try? RawClient(server.port) else { return false }
              for _ in 0..<10 {
                client.send("GET /a?b=c HTTP/1.1\r\nHost: \(server.name)\r\n\r\n")
                guard client.receive(until: "ok") != nil else { return false }
              }
            }
            return true
          }
        }
        #expect(await send(4_000))
        let before = (heap: heap_bytes_in_use(), pages: residentPages())
        #expect(await send(20_000))
        let after = (heap: heap_bytes_in_use(), pages: residentPages())
        #expect(Int(after.heap) - Int(before.heap) < 200_000)
        #expect((after.pages - before.pages) * 4_096 < 4_000_000)
      }
    }
  }
}

/// The maximum number of attempts to have an answer. Beside much other work, a request of a test
/// can be later than its limit of half a second, so that the server closes the connection.
private let attempts = 50

/// The answer to the first connection that the server does not close without one; nil if there is
/// none.
///
/// The thread of the server frees the place of a connection after it has closed it, which the
/// client sees before.
private func answer(of server: ServerFixture, from source: UInt32? = nil) async -> String? {
  for _ in 0..<attempts {
    let answer = await exchange(server.port, from: source, message(to: server.name))
    guard let answer, answer.isEmpty else { return answer }
  }
  return nil
}

/// Whether the tests run under a sanitizer.
#if SANITIZER
  private let isSanitized = true
#else
  private let isSanitized = false
#endif

/// The pages of this process that are in memory.
private func residentPages() -> Int {
  let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
  return text?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
}
