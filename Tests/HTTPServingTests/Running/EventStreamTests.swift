import CompositeOperations
import HTTPServing
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct EventStreamTests {
  /// Opens a stream, and waits for its first event.
  private func open(_ server: ServerFixture) async throws -> RawClient {
    let client = try RawClient(server.port)
    let text = await onNewThread { () -> String? in
      client.send(message(to: server.name))
      return client.receive(until: "data: first\n\n")
    }
    #expect(text?.contains("Content-Type: text/event-stream\r\n") == true)
    return client
  }

  @Test func `A4: events arrive while the handler runs, and the stream ends with it`() async throws
  {
    let gate = AsyncStream<String>.makeStream()
    try await ServerFixture.with { _ in
      .events { sink in
        sink.send(EventMessage(data: "first"))
        for await text in gate.stream { sink.send(EventMessage("state", data: text)) }
      }
    } _: { server in
      let client = try await open(server)
      for number in 1...3 {
        gate.continuation.yield("\(number)")
        let text = await onNewThread { client.receive(until: "\ndata: \(number)\n\n") }
        #expect(text?.contains("event: state\n") == true)
      }
      gate.continuation.finish()
      #expect(await onNewThread { client.receiveAll() } != nil)
    }
  }

  @Test func `HEAD of a stream has no events`() async throws {
    let produced = Latch()
    try await ServerFixture.with { _ in
      .events { _ in produced.note() }
    } _: { server in
      let response = await exchange(server.port, message("HEAD / HTTP/1.1", to: server.name))
      #expect(status(of: response) == 200)
      #expect(body(of: response)?.isEmpty == true)
    }
    #expect(produced.value == 0)
  }

  @Test func `A4: a slow client gets the newest state, and memory does not grow`() async throws {
    let (sent, closed) = (Latch(), Latch())
    let text = String(repeating: "x", count: 20_000)
    let gate = AsyncStream<Void>.makeStream()
    try await ServerFixture.with { _ in
      .events { sink in
        sink.send(EventMessage(data: "first"))
        for await _ in gate.stream { break }
        for number in 0..<1_000 {
          if !sink.send(EventMessage("state", data: "\(number) \(text)")) { closed.note() }
        }
        sent.note()
      }
    } _: { server in
      let client = try await open(server)
      gate.continuation.yield()
      await sent.wait()
      #expect(closed.value == 0)
      let (count, hasNewest) = await onNewThread {
        let received = client.receiveAll() ?? ""
        return (received.utf8.count, received.contains("data: 999 x"))
      }
      #expect(hasNewest)
      // Of 20 MB, only the bytes that fit into the buffers of the system.
      #expect(count < 15_000_000)
    }
  }

  @Test func `A4: a slow client of many events loses its connection`() async throws {
    let (opened, ended) = (Latch(), Latch())
    let text = String(repeating: "x", count: 20_000)
    var limits = ServerLimits()
    limits.connections = 1
    limits.responseTime = .seconds(3_600)
    try await ServerFixture.with(limits: limits) { request in
      if request.path == "/next" { return HTTPResponse(.text, "next") }
      return .events { sink in
        sink.send(EventMessage(data: "first"))
        // Otherwise the connection may be lost before the header of the response is sent.
        await opened.wait()
        var number = 0
        while sink.send(EventMessage("event \(number)", data: text)) { number += 1 }
        ended.note()
      }
    } _: { server in
      let client = try await open(server)
      opened.note()
      await ended.wait()
      #expect(await onNewThread { client.receiveAll() } != nil)
      // Its place is free, although the client has not closed it. A connection beyond the limit may be
      // refused, or lost.
      var next: String?
      repeat {
        next = await exchange(server.port, message("GET /next HTTP/1.1", to: server.name))
      } while next?.isEmpty != false
      #expect(body(of: next) == "next")
    }
  }

  @Test(arguments: [false, true])
  func `A4: the client of a stream has gone`(isReset: Bool) async throws {
    let ended = Latch()
    var limits = ServerLimits()
    limits.heartbeatTime = .milliseconds(20)
    try await ServerFixture.with(limits: limits) { _ in
      .events { sink in
        sink.send(EventMessage(data: "first"))
        // Only its cancellation ends it.
        try? await Task.sleep(for: .seconds(3_600))
        ended.note()
      }
    } _: { server in
      let client = try await open(server)
      if isReset { client.reset() }
      client.close()
      await ended.wait()
    }
  }

  @Test func `A4: the next event finds out that the client has gone`() async throws {
    let ended = Latch()
    let gate = AsyncStream<Void>.makeStream()
    var limits = ServerLimits()
    limits.heartbeatTime = .seconds(3_600)
    try await ServerFixture.with(limits: limits) { _ in
      .events { sink in
        sink.send(EventMessage(data: "first"))
        for await _ in gate.stream { sink.send(EventMessage(data: "second")) }
        ended.note()
      }
    } _: { server in
      let client = try await open(server)
      client.close()
      gate.continuation.yield()
      await ended.wait()
    }
  }

  @Test func `a heartbeat is a comment`() async throws {
    var limits = ServerLimits()
    limits.heartbeatTime = .milliseconds(10)
    try await ServerFixture.with(limits: limits) { _ in
      .events { sink in
        sink.send(EventMessage(data: "first"))
        try? await Task.sleep(for: .seconds(3_600))
      }
    } _: { server in
      let client = try await open(server)
      let text = await onNewThread { client.receive(until: "\n:\n\n") ?? client.receiveAll() }
      #expect(text?.contains(":\n\n") == true)
    }
  }

  @Test func `a sink of an ended stream sends nothing`() async throws {
    let kept = Lock<EventSink?>(nil)
    try await ServerFixture.with { _ in
      .events { sink in
        sink.send(EventMessage(data: "first"))
        kept.withLock { $0 = sink }
      }
    } _: { server in
      let client = try await open(server)
      #expect(await onNewThread { client.receiveAll() } != nil)
      #expect(kept.withLock { $0 }?.send(EventMessage(data: "late")) == false)
    }
    #expect(kept.withLock { $0 }?.send(EventMessage(data: "late")) == false)
  }
}
