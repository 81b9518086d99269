import CompositeOperations
import Foundation
import HTTPOperations
import LoopbackServer
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Responses that are used while they arrive.
@Suite(.timeLimit(.minutes(10))) struct HTTPStreamTests {
  @Test(.timeLimit(.minutes(10)))
  func `bytes arrive before the response is complete`() async throws {
    let received = DispatchSemaphore(value: 0)
    let server = try LoopbackServer { _, connection in
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\none")
      // The rest is sent only after the client has used the beginning.
      received.wait()
      connection.send("two")
    }
    let parts = try await HTTPStreamOperation(server.url()) { response in
      #expect(response.head.status == 200)
      var parts: [String] = []
      for try await bytes in response {
        parts.append(String(decoding: bytes, as: UTF8.self))
        received.signal()
      }
      return parts
    }.run().get()
    #expect(parts == ["one", "two"])
  }

  @Test(.timeLimit(.minutes(10)))
  func `a function that returns ends the request`() async throws {
    let server = try LoopbackServer { _, connection in
      connection.send(.init("begun", length: 1_000_000))
      connection.waitForClose()
    }
    let first = try await HTTPStreamOperation(server.url()) { response in
      var iterator = response.makeAsyncIterator()
      return try await iterator.next() ?? []
    }.run().get()
    #expect(first == Array("begun".utf8))
    await server.waitForCloses(1)
  }

  @Test func `a lost connection is the error after the received bytes`() async throws {
    let server = try LoopbackServer(.init("begun", length: 1_000))
    let received = Lock<[UInt8]>([])
    let outcome = await HTTPStreamOperation(server.url()) { response in
      for try await bytes in response { received.withLock { $0 += bytes } }
    }.run()
    #expect((outcome.error as? HTTPTransferError)?.reason == .connectionLost)
    #expect(received.withLock { $0 } == Array("begun".utf8))
  }

  @Test func `a status from 400 is an error without a call of the function`() async throws {
    let server = try LoopbackServer(.init(404, "no"))
    let outcome = await HTTPStreamOperation(server.url()) { _ in Issue.record("called") }.run()
    #expect((outcome.error as? HTTPStatusError)?.status == 404)
  }

  @Test(.timeLimit(.minutes(10)))
  func `N6: a slow function makes the server wait without a timeout`() async throws {
    let length = 256 << 20
    let sent = Lock(0)
    let goesOn = DispatchSemaphore(value: 0)
    let server = try LoopbackServer { _, connection in
      connection.send(.init(length: length))
      let chunk = [UInt8](repeating: 97, count: 65_536)
      for _ in 0..<length / chunk.count {
        if !connection.send(chunk) { return }
        sent.withLock { $0 += chunk.count }
      }
    }
    var request = URLRequest(url: server.url())
    request.timeoutInterval = 10
    let count = try await HTTPStreamOperation(request) { response in
      var count = 0
      for try await bytes in response {
        // Longer than the timeout of the request.
        if count == 0 {
          await onThread { _ = goesOn.wait(timeout: .now() + 11) }
          #expect(sent.withLock { $0 } < 64 << 20)
        }
        count += bytes.count
      }
      return count
    }.run().get()
    #expect(count == length)
  }

  @Test(.timeLimit(.minutes(10)))
  func `a server that stops after it had to wait is a timeout`() async throws {
    let never = DispatchSemaphore(value: 0)
    let server = try LoopbackServer { _, connection in
      connection.send(.init(length: 1 << 30))
      // More than is kept for a slow function.
      connection.send([UInt8](repeating: 97, count: 8 << 20))
      connection.waitForClose()
    }
    var request = URLRequest(url: server.url())
    request.timeoutInterval = 1
    let outcome = await HTTPStreamOperation(request) { response in
      var count = 0
      for try await bytes in response {
        // Longer than the timeout, so the deadline is checked meanwhile.
        if count == 0 { await onThread { _ = never.wait(timeout: .now() + 3) } }
        count += bytes.count
      }
      return count
    }.run()
    #expect((outcome.error as? HTTPTransferError)?.reason == .timedOut, "\(outcome)")
  }

  @Test(.timeLimit(.minutes(10)))
  func `a cancellation ends the sequence and closes the connection`() async throws {
    let server = try LoopbackServer { _, connection in
      connection.send(.init("begun", length: 1_000))
      connection.waitForClose()
    }
    let (begun, continuation) = AsyncStream<Void>.makeStream()
    let run = HTTPStreamOperation(server.url()) { response in
      for try await _ in response { continuation.yield() }
    }.start()
    for await _ in begun { break }
    run.cancel()
    #expect(await run.outcome.isCancelled)
    await server.waitForCloses(1)
  }

  // MARK: Requests

  @Test(arguments: [nil, 6])
  func `a sequence is sent as a body`(byteCount: Int?) async throws {
    let server = try LoopbackServer(.init("thanks"))
    let upload = HTTPUploadOperation(
      server.url(), method: "POST", from: .stream(byteCount: byteCount) { parts("one", "two") })
    #expect(try await upload.run().get().body == Data("thanks".utf8))
    #expect(server.requests.map(\.body) == [Data("onetwo".utf8)])
    #expect(server.requests[0]["Content-Length"] == byteCount.map { "\($0)" })
    #expect(server.requests[0]["Transfer-Encoding"] == (byteCount == nil ? "chunked" : nil))
  }

  @Test(arguments: [5, 7])
  func `a body with another length than announced is an error`(byteCount: Int) async throws {
    let server = try LoopbackServer(.init("thanks"))
    let upload = HTTPUploadOperation(
      server.url(), method: "POST", from: .stream(byteCount: byteCount) { parts("one", "two") })
    let error = try #require(await upload.run().error as? HTTPTransferError)
    #expect("\(error)".contains("its body has another length"), "\(error)")
    #expect(!error.isRetryable)
  }

  @Test func `an error of the sequence is the error of the run`() async throws {
    struct SourceError: Error {}
    let server = try LoopbackServer(.init("thanks"))
    let upload = HTTPUploadOperation(
      server.url(), method: "POST",
      from: .stream {
        AsyncThrowingStream<[UInt8], any Error> { continuation in
          continuation.yield([1, 2, 3])
          continuation.finish(throwing: SourceError())
        }
      })
    #expect(await upload.run().error is SourceError)
  }

  @Test func `a redirect sends the sequence again`() async throws {
    let server = try LoopbackServer(.init(307, headers: ["Location: /b"]), .init("thanks"))
    let upload = HTTPUploadOperation(
      server.url("/a"), method: "POST", from: .stream { parts("one", "two") })
    _ = try await upload.run().get()
    #expect(server.requests.map(\.path) == ["/a", "/b"])
    #expect(server.requests.map(\.body) == [Data("onetwo".utf8), Data("onetwo".utf8)])
  }

  // libcurl does not notice the end of such a response before the request continues.
  @Test(
    .timeLimit(.minutes(10)),
    arguments: [
      "HTTP/1.1 401 No\r\nContent-Length: 2\r\n\r\nno", "HTTP/1.1 413 No\r\n\r\nno",
      "HTTP/1.1 307 Go\r\nLocation: /next\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok",
    ])
  func `a response ends a request whose sequence waits forever`(response: String) async throws {
    let server = try LoopbackServer(readingBodies: false) { request, connection in
      connection.send(
        request.path == "/next" ? "HTTP/1.1 204 No\r\nConnection: close\r\n\r\n" : response)
      if response.contains("401") { connection.waitForClose() }
    }
    let (forever, continuation) = AsyncStream<[UInt8]>.makeStream()
    defer { continuation.finish() }
    let source = HTTPUploadSource.stream { forever }
    let outcome = await HTTPUploadOperation(server.url(), method: "POST", from: source).run()
    let status = outcome.result?.status ?? (outcome.error as? HTTPStatusError)?.status
    // A second sequence of the same stream ends at once.
    #expect([200, 204, 401, 413].contains(status), "\(outcome)")
  }

  @Test(.timeLimit(.minutes(10)))
  func `a response may arrive before the body of its request is complete`() async throws {
    let server = try LoopbackServer(readingBodies: false) { _, connection in
      connection.send(.init(413, "too large"))
    }
    let upload = HTTPUploadOperation(
      server.url(), method: "POST",
      // Never ends by itself.
      from: .stream { AsyncStream(unfolding: { [UInt8](repeating: 1, count: 1_000) }) })
    let error = await upload.run().error
    // The connection may be reset before the response is read.
    let isRefusal = (error as? HTTPStatusError)?.status == 413
    #expect(
      isRefusal || (error as? HTTPTransferError)?.reason == .connectionLost, "\(error as Any)")
  }
}

private func parts(_ parts: String...) -> AsyncStream<[UInt8]> {
  AsyncStream { continuation in
    for part in parts { continuation.yield(Array(part.utf8)) }
    continuation.finish()
  }
}

private func onThread(_ body: @escaping @Sendable () -> Void) async {
  await withCheckedContinuation { waiter in
    Thread.detachNewThread {
      body()
      waiter.resume()
    }
  }
}
