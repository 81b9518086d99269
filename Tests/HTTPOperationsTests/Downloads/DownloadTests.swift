import CompositeOperations
import CompositeOperationsTestKit
import Foundation
import HTTPOperations
import LoopbackServer
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(10))) struct DownloadTests {
  @Test func `N3: a complete download replaces the old file and leaves no other file`()
    async throws
  {
    let folder = try TemporaryFolder()
    let bytes = someBytes(300_000)
    let server = try LoopbackServer(.init(headers: [#"ETag: "1""#], body: bytes))
    let file = folder["file"]
    try Data("old".utf8).write(to: file)
    let observer = RecordingObserver()
    let download = try await HTTPDownloadOperation(server.url(), to: file)
      .observed(by: observer).run().get()
    #expect(try Data(contentsOf: file) == Data(bytes))
    #expect(download.byteCount == 300_000)
    #expect(download.resumedByteCount == 0)
    #expect(try folder.names() == ["file"])
    #expect(server.requests[0]["Range"] == nil)
    let last = observer.events.compactMap { event -> Int? in
      if case .progressed(let count, 300_000, "bytes") = event.kind { count } else { nil }
    }.last
    #expect(last == 300_000)
  }

  @Test(arguments: [0o600, 0o444, 0o755, 0o4755])
  func `a new file has the permissions of the old one, without setuid and setgid`(
    rights: Int
  ) async throws {
    let folder = try TemporaryFolder()
    try Data("old".utf8).write(to: folder["file"])
    try FileManager.default.setAttributes(
      [.posixPermissions: rights], ofItemAtPath: folder["file"].path)
    let server = try LoopbackServer(.init("new"))
    _ = try await HTTPDownloadOperation(server.url(), to: folder["file"]).run().get()
    #expect(try Data(contentsOf: folder["file"]) == Data("new".utf8))
    let attributes = try FileManager.default.attributesOfItem(atPath: folder["file"].path)
    #expect(attributes[.posixPermissions] as? Int == rights & 0o777)
  }

  @Test(.enabled(if: geteuid() == 0, "Requires root to change owners."))
  func `a new file has the owner and the group of the old one`() async throws {
    let folder = try TemporaryFolder()
    let file = folder["file"]
    try Data("old".utf8).write(to: file)
    #expect(unsafe chown(file.path, 1_234, 5_678) == 0)
    let server = try LoopbackServer(.init("new"))
    _ = try await HTTPDownloadOperation(server.url(), to: file).run().get()
    let status = status(of: file)
    #expect(status.st_size == 3 && status.st_uid == 1_234 && status.st_gid == 5_678)
  }

  @Test func `empty files and files of unknown length are downloaded`() async throws {
    let folder = try TemporaryFolder()
    let empty = try LoopbackServer(.init())
    _ = try await HTTPDownloadOperation(empty.url(), to: folder["empty"]).run().get()
    #expect(try Data(contentsOf: folder["empty"]).isEmpty)
    let server = try LoopbackServer(.init("to the end", length: -1))
    _ = try await HTTPDownloadOperation(server.url(), to: folder["file"]).run().get()
    #expect(try Data(contentsOf: folder["file"]) == Data("to the end".utf8))
  }

  @Test func `a large file is downloaded completely`() async throws {
    let length = 64 << 20
    let server = try LoopbackServer { _, connection in
      connection.send(.init(length: length))
      let chunk = [UInt8](repeating: 97, count: 1 << 20)
      for _ in 0..<64 { connection.send(chunk) }
    }
    let folder = try TemporaryFolder()
    let download = try await HTTPDownloadOperation(server.url(), to: folder["file"]).run().get()
    #expect(download.byteCount == length)
  }

  @Test func `N1: a download that ends in a status error leaves the old file and no other`()
    async throws
  {
    let folder = try TemporaryFolder()
    try Data("old".utf8).write(to: folder["file"])
    for status in [304, 404, 500] {
      let server = try LoopbackServer(.init(status, "no"))
      let outcome = await HTTPDownloadOperation(server.url(), to: folder["file"]).run()
      #expect((outcome.error as? HTTPStatusError)?.status == status)
    }
    #expect(try Data(contentsOf: folder["file"]) == Data("old".utf8))
    #expect(try folder.names() == ["file"])
  }

  @Test func `a redirect that is not followed is an error and creates no file`() async throws {
    let folder = try TemporaryFolder()
    let server = try LoopbackServer(.init(302, headers: ["Location: /b"], "elsewhere"))
    let outcome = await HTTPDownloadOperation(
      server.url(), to: folder["file"], options: .init(redirects: .notFollowed)
    ).run()
    #expect((outcome.error as? HTTPStatusError)?.status == 302)
    #expect(try folder.names() == [])
  }

  @Test func `a full disk is an error that names the file and the remedy`() async throws {
    try #require(FileManager.default.fileExists(atPath: "/dev/full"))
    let folder = try TemporaryFolder()
    // A link, so that a bug cannot replace the device by a file.
    let full = try folder.link("full", to: "/dev/full")
    let server = try LoopbackServer(.init("contents"))
    let error = try #require(
      await HTTPDownloadOperation(server.url("/a?key=secret"), to: full).run().error
        as? HTTPFileError)
    #expect(error.path == full.path)
    #expect(
      error.description == "GET \(server.url("/a"))?key=…: the file \(full.path) cannot be "
        + "written: No space left on device. Free disk space, or use a path on another disk.")
    #expect(!error.isRetryable)
    #expect(try folder.names() == ["full"])
  }

  @Test func `a destination that is not a valid file URL is an error without a request`()
    async throws
  {
    let server = try LoopbackServer(.init("contents"))
    let place = try #require(URL(string: "https://example.org/file?key=secret"))
    let error = try #require(
      await HTTPDownloadOperation(server.url(), to: place).run().error as? HTTPFileError)
    #expect(error.description.contains("https://example.org/file?key=… cannot be written"))
    #expect(error.description.contains("not a file URL"))
    // The system would end the name at a zero byte.
    let folder = try TemporaryFolder()
    try Data("old".utf8).write(to: folder["file"])
    let zero = try #require(URL(string: folder["file"].absoluteString + "%00.txt"))
    #expect(await HTTPDownloadOperation(server.url(), to: zero).run().error is HTTPFileError)
    #expect(try folder.names() == ["file"])
    #expect(server.requests.isEmpty)
  }

  @Test func `a device is written to and not replaced`() async throws {
    let folder = try TemporaryFolder()
    let null = try folder.link("null", to: "/dev/null")
    let server = try LoopbackServer(.init("contents"))
    let download = try await HTTPDownloadOperation(server.url(), to: null).run().get()
    #expect(download.byteCount == 8)
    #expect(try folder.names() == ["null"])
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: null.path) == "/dev/null")
  }

  @Test func `a destination that cannot be written is an error without a request`() async throws {
    let folder = try TemporaryFolder()
    let server = try LoopbackServer(.init("contents"))
    let waiters = [
      (folder["no/such/file"], "Create the folder first"), (folder.url, "it is a folder."),
      (folder[String(repeating: "n", count: 300)], "File name too long"),
      (URL(fileURLWithPath: "/proc/file"), "/proc/file"),
    ]
    for (place, text) in waiters {
      let outcome = await HTTPDownloadOperation(server.url(), to: place).run()
      let error = try #require(outcome.error as? HTTPFileError)
      #expect(error.description.contains(place.path), "\(error)")
      #expect(error.description.contains(text), "\(error)")
    }
    #expect(server.requests.isEmpty)
  }

  @Test func `a second download to the same destination is refused`() async throws {
    let folder = try TemporaryFolder()
    let server = try LoopbackServer { _, connection in
      connection.send(.init("begun", length: 100))
      connection.waitForClose()
    }
    let first = HTTPDownloadOperation(server.url(), to: folder["file"]).start()
    await server.waitForRequests(1)
    let outcome = await HTTPDownloadOperation(server.url(), to: folder["file"]).run()
    #expect((outcome.error as? HTTPFileError)?.problem == "is already being downloaded")
    first.cancel()
    #expect(await first.outcome.isCancelled)
    #expect(server.requests.count == 1)
  }

  @Test func `a cancellation closes the connection and keeps a partial file that can be resumed`()
    async throws
  {
    for (headers, names) in [([#"ETag: "1""#], ["file.partial", "file.partial.json"]), ([], [])] {
      let folder = try TemporaryFolder()
      let server = try LoopbackServer { _, connection in
        connection.send(.init(headers: headers, body: Array("begun".utf8), length: 100))
        connection.waitForClose()
      }
      let (reports, continuation) = AsyncStream<Void>.makeStream()
      let run = HTTPDownloadOperation(server.url(), to: folder["file"])
        .observed(by: ProgressObserver { _ in continuation.yield() }).start()
      for await _ in reports where folder.size(of: "file.partial") == 5 { break }
      run.cancel()
      #expect(await run.outcome.isCancelled)
      await server.waitForCloses(1)
      #expect(try folder.names() == names)
    }
  }
}
