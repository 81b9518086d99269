import CompositeOperations
import Foundation
import HTTPServing
import TestSupport
import Testing

/// A cancelled server ends in order. Its closing time exceeds the time limit of the tests, so a
/// server that waits for it fails them.
@Suite(.timeLimit(.minutes(10))) struct StoppingTests {
  private static var limits: ServerLimits {
    var limits = ServerLimits()
    limits.closingTime = .seconds(3_600)
    // A slow test sends its requests late.
    limits.requestTime = .seconds(600)
    limits.idleTime = .seconds(600)
    return limits
  }

  @Test func `A3: a cancelled handler still sends its response`() async throws {
    let started = Latch()
    let server = try await ServerFixture.start(limits: Self.limits) { _ in
      started.note()
      try? await Task.sleep(for: .seconds(3_600))
      return HTTPResponse(.text, Task.isCancelled ? "cancelled" : "finished")
    }
    async let response = exchange(server.port, message(to: server.name))
    await started.wait()
    await server.stop()
    #expect(body(of: await response) == "cancelled")
  }

  @Test func `A3: a large response is sent completely`() async throws {
    let started = Latch()
    let server = try await ServerFixture.start(limits: Self.limits) { _ in
      started.note()
      try? await Task.sleep(for: .seconds(3_600))
      return HTTPResponse(.text, [UInt8](repeating: 0x61, count: 20_000_000))
    }
    async let response = exchange(server.port, message(to: server.name))
    await started.wait()
    await server.stop()
    #expect(body(of: await response)?.utf8.count == 20_000_000)
  }

  @Test func `A3: a request that is refused during the stop does not cut a running response`()
    async throws
  {
    let (started, gate) = (Latch(), Latch())
    let server = try await ServerFixture.start(limits: Self.limits) { request in
      guard request.path == "/large" else { return HTTPResponse(.text, "ok") }
      started.note()
      await gate.wait()
      return HTTPResponse(.text, [UInt8](repeating: 0x61, count: 20_000_000))
    }
    async let response = exchange(server.port, message("GET /large HTTP/1.1", to: server.name))
    await started.wait()
    let other = try RawClient(server.port)
    let request = "GET / HTTP/1.1\r\nHost: \(server.name)\r\n\r\n"
    // The server has accepted the connection before it stops.
    let first = await onNewThread { () -> String? in
      other.send(request)
      return other.receive(until: "ok")
    }
    #expect(first != nil)
    server.run.cancel()
    let refusal = await onNewThread { () -> String? in
      // The server may not have noticed its cancellation yet.
      while other.send(request), let text = other.receive(until: "\r\n\r\n") {
        if text.contains(" 503 "), text.contains("Connection: close") { return text }
      }
      return nil
    }
    #expect(refusal != nil)
    #expect(await onNewThread { other.receiveAll() } != nil)
    gate.note()
    #expect(body(of: await response)?.utf8.count == 20_000_000)
    await server.stop()
  }

  @Test func `A3: a response that is not read delays the end only for the closing time`()
    async throws
  {
    let answered = Latch()
    var limits = Self.limits
    limits.closingTime = .milliseconds(50)
    let server = try await ServerFixture.start(limits: limits) { _ in
      answered.note()
      return HTTPResponse(.text, [UInt8](repeating: 0x61, count: 50_000_000))
    }
    let client = try RawClient(server.port)
    client.send(message(to: server.name))
    await answered.wait()
    await server.stop()
    let received = await onNewThread { client.receiveAll() }
    #expect((received?.utf8.count ?? .max) < 50_000_000)
  }

  @Test func `A3: an upload is cut`() async throws {
    let server = try await ServerFixture.start(token: "0123456789abcdef", limits: Self.limits) {
      _ in HTTPResponse(.text, "never")
    }
    let client = try RawClient(server.port)
    let start = message(
      "POST / HTTP/1.1", to: server.name, "Authorization: Bearer 0123456789abcdef",
      "Content-Length: 1000", "Expect: 100-continue", body: "begin")
    let interim = await onNewThread { () -> String? in
      client.send(start)
      return client.receive(until: "100 Continue")
    }
    #expect(interim != nil)
    await server.stop()
    #expect(await onNewThread { client.receiveAll() }?.contains("never") == false)
  }

  @Test func `A3: streams of events end, and their handlers are cancelled`() async throws {
    let ended = Latch()
    let server = try await ServerFixture.start(limits: Self.limits) { _ in
      .events { sink in
        sink.send(EventMessage(data: "first"))
        try? await Task.sleep(for: .seconds(3_600))
        ended.note()
      }
    }
    let clients = try (0..<10).map { _ in try RawClient(server.port) }
    for client in clients {
      let text = await onNewThread { () -> String? in
        client.send(message(to: server.name))
        return client.receive(until: "data: first\n\n")
      }
      #expect(text != nil)
    }
    await server.stop()
    #expect(ended.value == 10)
    // The last chunk says that the stream is complete.
    for client in clients {
      let rest = await onNewThread { client.receiveAll() }
      #expect(rest?.hasSuffix("0\r\n\r\n") == true, "\(rest ?? "nothing")")
    }
  }

  @Test func `A3: idle connections are closed, and the port is free`() async throws {
    let server = try await ServerFixture.start(limits: Self.limits) { _ in
      HTTPResponse(.text, "idle")
    }
    let clients = try (0..<100).map { _ in try RawClient(server.port) }
    let count = await onNewThread {
      clients.count { client in
        client.send("GET / HTTP/1.1\r\nHost: \(server.name)\r\n\r\n")
        return client.receive(until: "idle") != nil
      }
    }
    #expect(count == 100)
    await server.stop()
    #expect(await onNewThread { clients.allSatisfy { $0.receiveAll()?.isEmpty == true } })
    #expect(throws: (any Error).self) { try RawClient(server.port) }
    let next = try await ServerFixture.start(at: server.name) { _ in HTTPResponse(.text, "next") }
    #expect(body(of: await exchange(next.port, message(to: next.name))) == "next")
    await next.stop()
  }

  @Test func `A3: a server that is cancelled at once ends`() async throws {
    for _ in 0..<50 {
      let run = ServeHTTP(at: try ServerAddress("127.0.0.1:0")) { _ in
        HTTPResponse(.text, "")
      }.start()
      run.cancel()
      #expect(await run.outcome.isCancelled)
    }
  }

  /// Requests arrive during the whole stop.
  @Test func `A3: a server can be stopped under load`() async throws {
    for _ in 0..<10 {
      let answered = Latch()
      let server = try await ServerFixture.start { request in
        answered.note()
        return request.path == "/events"
          ? .events { sink in while sink.send(EventMessage(data: "x")) { await Task.yield() } }
          : HTTPResponse(.text, "ok")
      }
      await withTaskGroup(of: Void.self) { group in
        for index in 0..<8 {
          group.addTask {
            let path = index == 0 ? "/events" : "/"
            _ = await onNewThread {
              while let client = try? RawClient(server.port) {
                client.send(message("GET \(path) HTTP/1.1", to: server.name))
                _ = client.receiveAll()
              }
            }
          }
        }
        await answered.wait(for: 20)
        await server.stop()
      }
    }
  }

  @Test func `descriptors are the same before and after`() async {
    await #expect(processExitsWith: .success) {
      let round = {
        let server = try await ServerFixture.start { request in
          request.path == "/events"
            ? .events { sink in sink.send(EventMessage(data: "first")) } : HTTPResponse(.text, "ok")
        }
        let idle = try (0..<20).map { _ in try RawClient(server.port) }
        for path in ["/", "/events", "/%zz"] {
          _ = await exchange(server.port, message("GET \(path) HTTP/1.1", to: server.name))
        }
        await server.stop()
        for client in idle { client.close() }
      }
      // The runtime opens some at first.
      try await round()
      let before = try ResourceCounts.now.descriptors
      for _ in 0..<20 { try await round() }
      #expect(try ResourceCounts.now.descriptors == before)
    }
  }
}
