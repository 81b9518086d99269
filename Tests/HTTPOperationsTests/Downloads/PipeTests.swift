import CompositeOperations
import Foundation
import HTTPOperations
import LoopbackServer
import TestSupport
import Testing

/// Downloads to pipes and devices.
@Suite(.timeLimit(.minutes(10))) struct PipeTests {
  @Test(.timeLimit(.minutes(10)))
  func `a download to a pipe without a reader is an error with the remedy`() async throws {
    let folder = try TemporaryFolder()
    let pipe = try NamedPipe(in: folder)
    pipe.close()
    let server = try LoopbackServer(.init("contents"))
    let outcome = await HTTPDownloadOperation(server.url(), to: pipe.url).run()
    let error = try #require(outcome.error as? HTTPFileError)
    #expect(error.code == ENXIO)
    #expect(error.description.hasSuffix("Start its reader first."))
    #expect(server.requests.isEmpty)
  }

  @Test(.timeLimit(.minutes(10)))
  func `a download to a pipe is complete`() async throws {
    let folder = try TemporaryFolder()
    let pipe = try NamedPipe(in: folder)
    let bytes = someBytes(3_000_000)
    let server = try LoopbackServer(.init(body: bytes))
    async let read = onNewThread { pipe.read(bytes.count) }
    let download = try await HTTPDownloadOperation(server.url(), to: pipe.url).run().get()
    #expect(download.byteCount == bytes.count)
    #expect(await read == bytes)
  }

  @Test(.timeLimit(.minutes(10)))
  func `a reader that closes the pipe is an error and does not end the process`() async throws {
    let folder = try TemporaryFolder()
    let pipe = try NamedPipe(in: folder)
    let server = try LoopbackServer(.init(body: someBytes(3_000_000)))
    let run = HTTPDownloadOperation(server.url(), to: pipe.url).start()
    await onNewThread {
      _ = pipe.read(100_000)
      pipe.close()
    }
    let error = try #require(await run.outcome.error as? HTTPFileError)
    #expect(error.code == EPIPE)
  }

  @Test func `a download to a device is not retried`() async throws {
    let folder = try TemporaryFolder()
    let null = try folder.link("null", to: "/dev/null")
    let server = try LoopbackServer(.init("cut", headers: [#"ETag: "v1""#], length: 100))
    let download = HTTPDownloadOperation(server.url(), to: null).retryingHTTP(backoff: .none)
    let errors = try #require(await download.run().error as? RetryError).errors
    #expect(errors.map { ($0 as? HTTPTransferError)?.reason } == [.connectionLost])
    #expect(server.requests.count == 1)
  }

  @Test(.timeLimit(.minutes(10)))
  func `N6: a full pipe makes its server wait and no other request`() async throws {
    let folder = try TemporaryFolder()
    let pipe = try NamedPipe(in: folder)
    let length = 256 << 20
    let sent = Count()
    let server = try LoopbackServer { _, connection in
      connection.send(.init(length: length))
      let chunk = [UInt8](repeating: 97, count: 65_536)
      while sent.value < length, connection.send(chunk) { sent.add(chunk.count) }
      connection.waitForClose()
    }
    let other = try LoopbackServer(.init("other"))
    let run = HTTPDownloadOperation(server.url(), to: pipe.url).start()
    // More than the pipe can hold.
    while sent.value < 1 << 20 { await Task.yield() }
    for _ in 0..<20 {
      #expect(await HTTPDataOperation(other.url()).run().result?.status == 200)
    }
    run.cancel()
    #expect(await run.outcome.isCancelled)
    await server.waitForCloses(1)
    #expect(sent.value < 64 << 20)
  }

  @Test(.timeLimit(.minutes(10)))
  func `a download to a full pipe can be cancelled after all of it has arrived`() async throws {
    let folder = try TemporaryFolder()
    let pipe = try NamedPipe(in: folder)
    let server = try LoopbackServer(.init(body: someBytes(300_000)))
    let run = HTTPDownloadOperation(server.url(), to: pipe.url).start()
    // More than the pipe can hold is not read.
    await server.waitForRequests(1)
    _ = await onNewThread { pipe.read(1) }
    run.cancel()
    #expect(await run.outcome.isCancelled)
  }
}

/// A named pipe that is open for reading.
private final class NamedPipe: Sendable {
  let url: URL
  private let descriptor: Int32

  init(in folder: TemporaryFolder) throws {
    url = folder["pipe"]
    let status = unsafe mkfifo(url.path, 0o600)
    try #require(status == 0)
    // Opened without waiting for a writer. `read` waits with `poll`.
    descriptor = unsafe open(url.path, O_RDONLY | O_NONBLOCK)
    try #require(descriptor >= 0)
  }

  /// Reads at least a number of bytes and blocks the thread until then.
  func read(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while bytes.count < count {
      var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      _ = unsafe poll(&event, 1, -1)
      let taken = unsafe readBytes(descriptor, &chunk, chunk.count)
      if taken > 0 { bytes += chunk[..<taken] }
    }
    return bytes
  }

  /// Closes the pipe. Must be called only once.
  func close() { closeDescriptor(descriptor) }
}

private final class Count: Sendable {
  private let count = Lock(0)

  var value: Int { count.withLock { $0 } }

  func add(_ number: Int) { count.withLock { $0 += number } }
}

private func closeDescriptor(_ descriptor: Int32) { _ = close(descriptor) }

private func readBytes(
  _ descriptor: Int32, _ bytes: UnsafeMutablePointer<UInt8>, _ count: Int
) -> Int {
  unsafe read(descriptor, bytes, count)
}
