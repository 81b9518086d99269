import CompositeOperations
import Foundation
import HTTPOperations
import LoopbackServer
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(10))) struct ResumptionTests {
  private static let bytes = someBytes(200_000)
  private static let modified = [
    "Date: Sun, 22 Nov 2026 10:00:00 GMT", "Last-Modified: Sat, 21 Nov 2026 10:00:00 GMT",
  ]

  @Test func `a descriptor that a starting program has inherited does not block the next download`()
    async throws
  {
    let folder = try TemporaryFolder()
    let partial = folder["file.partial"].resolvingSymlinksInPath().path
    let (copies, copy) = AsyncStream<Int32?>.makeStream()
    let rest = Self.part(from: 70_000, headers: [#"ETag: "v1""#])
    let server = try LoopbackServer { request, connection in
      if request.number > 0 { return connection.send(rest) }
      // A starting program has such a copy of the descriptor between fork and exec.
      copy.yield(openFile(named: partial).map { dup($0) })
      connection.send(Self.cut)
    }
    let operation = HTTPDownloadOperation(server.url(), to: folder["file"])
    #expect(await operation.run().error is HTTPTransferError)
    let descriptor = try #require(await copies.first { _ in true } ?? nil)
    defer { close(descriptor) }
    #expect(try await operation.run().get().resumedByteCount == 70_000)
  }

  @Test(arguments: [
    ([#"ETag: "v1""#], #""v1""#), (modified, "Sat, 21 Nov 2026 10:00:00 GMT"),
    ([#"ETag: "v1""#] + modified, #""v1""#),
  ])
  func `N3: an interrupted download is resumed by the next attempt`(
    headers: [String], validator: String
  ) async throws {
    let folder = try TemporaryFolder()
    let server = try LoopbackServer(
      .init(headers: headers, body: Array(Self.bytes.prefix(70_000)), length: 200_000),
      Self.part(from: 70_000, headers: headers))
    let download = try await HTTPDownloadOperation(server.url(), to: folder["file"])
      .retryingHTTP(backoff: .none).run().get()
    #expect(try Data(contentsOf: folder["file"]) == Data(Self.bytes))
    #expect(download.resumedByteCount == 70_000)
    #expect(download.byteCount == 200_000)
    #expect(server.requests[1]["Range"] == "bytes=70000-")
    #expect(server.requests[1]["If-Range"] == validator)
    #expect(server.requests.map { $0["Accept-Encoding"] } == ["identity", "identity"])
    #expect(try folder.names() == ["file"])
  }

  @Test func `an interrupted download is resumed by the next run`() async throws {
    let folder = try TemporaryFolder()
    let server = try LoopbackServer(Self.cut, Self.part(from: 70_000, headers: [#"ETag: "v1""#]))
    let operation = HTTPDownloadOperation(server.url("/a?key=secret"), to: folder["file"])
    #expect(await operation.run().error is HTTPTransferError)
    #expect(try folder.names() == ["file.partial", "file.partial.json"])
    #expect(
      try !String(contentsOf: folder["file.partial.json"], encoding: .utf8).contains("secret"))
    #expect(try await operation.run().get().resumedByteCount == 70_000)
    #expect(try Data(contentsOf: folder["file"]) == Data(Self.bytes))
  }

  @Test(arguments: [
    [], [#"ETag: W/"v1""#], ["Last-Modified: Sat, 21 Nov 2026 10:00:00 GMT"],
    ["Date: Sat, 21 Nov 2026 10:00:00 GMT", "Last-Modified: Sat, 21 Nov 2026 10:00:00 GMT"],
  ])
  func `N3: a download without a strong validator starts over`(headers: [String]) async throws {
    let folder = try TemporaryFolder()
    let server = try LoopbackServer(
      .init(headers: headers, body: Array(Self.bytes.prefix(70_000)), length: 200_000),
      .init(headers: headers, body: Self.bytes))
    let download = try await HTTPDownloadOperation(server.url(), to: folder["file"])
      .retryingHTTP(backoff: .none).run().get()
    #expect(download.resumedByteCount == 0)
    #expect(server.requests[1]["Range"] == nil)
    #expect(try Data(contentsOf: folder["file"]) == Data(Self.bytes))
  }

  @Test func `a complete response to a range request replaces the partial download`()
    async throws
  {
    let others = someBytes(50_000, seed: 2)
    let folder = try TemporaryFolder()
    let server = try LoopbackServer(Self.cut, .init(headers: [#"ETag: "v2""#], body: others))
    let download = try await HTTPDownloadOperation(server.url(), to: folder["file"])
      .retryingHTTP(backoff: .none).run().get()
    #expect(server.requests[1]["If-Range"] == #""v1""#)
    #expect(download.resumedByteCount == 0)
    #expect(try Data(contentsOf: folder["file"]) == Data(others))
  }

  @Test(arguments: [
    part(from: 60_000, headers: [#"ETag: "v1""#]), part(from: 70_000, headers: [#"ETag: "v2""#]),
    LoopbackResponse(206, "no range"), LoopbackResponse(416, headers: ["Content-Range: bytes */9"]),
    LoopbackResponse(416),
    // Longer than the file was.
    LoopbackResponse(
      206, headers: [#"ETag: "v1""#, "Content-Range: bytes 70000-299999/300000"], length: 230_000),
    LoopbackResponse(206, headers: ["Content-Range: bytes 70000-99999/*"], length: 30_000),
    // Invalid ranges. (A longer length than these crashes in Foundation.)
    LoopbackResponse(206, headers: ["Content-Range: bytes 70000-200000/200000"], length: 130_001),
    LoopbackResponse(206, headers: ["Content-Range: bytes 70000-+99999/200000"], length: 130_000),
    LoopbackResponse(206, headers: ["Content-Range: bytes 70000-199999/*"], length: .max - 1_023),
    // Compressed, so its offsets are different.
    part(from: 70_000, headers: [#"ETag: "v1""#, "Content-Encoding: gzip"]),
  ])
  func `N3: a range that does not match is dropped, and the whole file is requested`(
    response: LoopbackResponse
  )
    async throws
  {
    let folder = try TemporaryFolder()
    let server = try LoopbackServer(Self.cut, response, .init(body: Self.bytes))
    let operation = HTTPDownloadOperation(server.url(), to: folder["file"])
    #expect(await operation.run().error is HTTPTransferError)
    let download = try await operation.run().get()
    #expect(download.resumedByteCount == 0)
    #expect(server.requests.map { $0["Range"] } == [nil, "bytes=70000-", nil])
    #expect(try Data(contentsOf: folder["file"]) == Data(Self.bytes))
    #expect(try folder.names() == ["file"])
  }

  @Test func `a range with another Last-Modified is dropped`() async throws {
    let folder = try TemporaryFolder()
    let server = try LoopbackServer(
      .init(headers: Self.modified, body: Array(Self.bytes.prefix(70_000)), length: 200_000),
      Self.part(from: 70_000, headers: ["Last-Modified: Sun, 22 Nov 2026 09:00:00 GMT"]),
      .init(body: Self.bytes))
    let operation = HTTPDownloadOperation(server.url(), to: folder["file"])
    #expect(await operation.run().error is HTTPTransferError)
    #expect(try await operation.run().get().resumedByteCount == 0)
    #expect(server.requests.map { $0["Range"] } == [nil, "bytes=70000-", nil])
    #expect(try Data(contentsOf: folder["file"]) == Data(Self.bytes))
  }

  @Test(arguments: [
    modified, [#"ETag: W/"v1""#] + modified, [],
    [#"ETag: "v1""#, "Last-Modified: Sat, 21 Nov 2026 10:00:01 GMT"],
  ])
  func `N3: a range without a validator of the partial file is dropped`(
    headers: [String]
  ) async throws {
    let folder = try TemporaryFolder()
    let server = try LoopbackServer(
      .init(
        headers: [#"ETag: "v1""#] + Self.modified, body: Array(Self.bytes.prefix(70_000)),
        length: 200_000),
      Self.part(from: 70_000, headers: headers), .init(body: Self.bytes))
    let operation = HTTPDownloadOperation(server.url(), to: folder["file"])
    #expect(await operation.run().error is HTTPTransferError)
    #expect(try await operation.run().get().resumedByteCount == 0)
    #expect(server.requests.map { $0["Range"] } == [nil, "bytes=70000-", nil])
    #expect(try Data(contentsOf: folder["file"]) == Data(Self.bytes))
  }

  @Test func `N3: a range with the ETag of the partial file needs no Last-Modified`()
    async throws
  {
    let folder = try TemporaryFolder()
    let server = try LoopbackServer(
      .init(
        headers: [#"ETag: "v1""#] + Self.modified, body: Array(Self.bytes.prefix(70_000)),
        length: 200_000),
      Self.part(from: 70_000, headers: [#"ETag: "v1""#]))
    let operation = HTTPDownloadOperation(server.url(), to: folder["file"])
    #expect(await operation.run().error is HTTPTransferError)
    #expect(try await operation.run().get().resumedByteCount == 70_000)
    #expect(try Data(contentsOf: folder["file"]) == Data(Self.bytes))
  }

  @Test func `a compressed download is not resumed`() async throws {
    let folder = try TemporaryFolder()
    let headers = [#"ETag: "v1""#, "Content-Encoding: gzip"]
    // The header of a gzip file and of a stored block of 20,000 bytes.
    let packed = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 0x20, 0x4e, 0xdf, 0xb1].map { UInt8($0) }
    let server = try LoopbackServer(
      .init(headers: headers, body: packed + Self.bytes.prefix(10_000), length: 20_023),
      .init(body: Self.bytes))
    let operation = HTTPDownloadOperation(server.url(), to: folder["file"])
    #expect(await operation.run().error is HTTPTransferError)
    #expect(try folder.names() == [])
    _ = try await operation.run().get()
    #expect(server.requests.map { $0["Range"] } == [nil, nil])
    #expect(try Data(contentsOf: folder["file"]) == Data(Self.bytes))
  }

  @Test(arguments: [true, false])
  func `a 416 with the received length and the validator completes the download`(
    hasValidator: Bool
  ) async throws {
    let folder = try TemporaryFolder()
    let tags = hasValidator ? [#"ETag: "v1""#] : []
    // The connection ends after the whole body, before the chunk that marks its end.
    let server = try LoopbackServer { request, connection in
      if request["Range"] != nil {
        return connection.send(.init(416, headers: ["Content-Range: bytes */10"] + tags))
      }
      if request.number > 0 { return connection.send(.init("0123456789")) }
      connection.send("HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nTransfer-Encoding: chunked\r\n\r\n")
      connection.send("a\r\n0123456789\r\n")
    }
    let download = try await HTTPDownloadOperation(server.url(), to: folder["file"])
      .retryingHTTP(backoff: .none).run().get()
    #expect(download.byteCount == 10)
    #expect(download.resumedByteCount == (hasValidator ? 10 : 0))
    #expect(try Data(contentsOf: folder["file"]) == Data("0123456789".utf8))
    #expect(try folder.names() == ["file"])
  }

  @Test func `a download from another address starts over`() async throws {
    let folder = try TemporaryFolder()
    let server = try LoopbackServer(Self.cut, .init(body: Self.bytes))
    for path in ["/a", "/b"] {
      _ = await HTTPDownloadOperation(server.url(path), to: folder["file"]).run()
    }
    #expect(server.requests.map { $0["Range"] } == [nil, nil])
    #expect(try Data(contentsOf: folder["file"]) == Data(Self.bytes))
  }

  @Test func `a download with an unreadable resumption record starts over`() async throws {
    let folder = try TemporaryFolder()
    try Data("half".utf8).write(to: folder["file.partial"])
    try Data("{".utf8).write(to: folder["file.partial.json"])
    let server = try LoopbackServer(.init(body: Self.bytes))
    _ = try await HTTPDownloadOperation(server.url(), to: folder["file"]).run().get()
    #expect(server.requests[0]["Range"] == nil)
    #expect(try Data(contentsOf: folder["file"]) == Data(Self.bytes))
  }

  @Test func `a server error keeps the partial file`() async throws {
    let folder = try TemporaryFolder()
    let server = try LoopbackServer(
      Self.cut, .init(503), Self.part(from: 70_000, headers: [#"ETag: "v1""#]))
    let download = try await HTTPDownloadOperation(server.url(), to: folder["file"])
      .retryingHTTP(backoff: .none).run().get()
    #expect(download.resumedByteCount == 70_000)
    #expect(try Data(contentsOf: folder["file"]) == Data(Self.bytes))
  }

  /// A response that ends after 70,000 of 200,000 bytes.
  private static var cut: LoopbackResponse {
    .init(headers: [#"ETag: "v1""#], body: Array(bytes.prefix(70_000)), length: 200_000)
  }

  /// A range from an offset to the end of the file.
  private static func part(from place: Int, headers: [String]) -> LoopbackResponse {
    .init(
      206, headers: headers + ["Content-Range: bytes \(place)-199999/200000"],
      body: Array(bytes.dropFirst(place)))
  }
}

/// The descriptor by which this process has a file open.
private func openFile(named path: String) -> Int32? {
  let (files, folder) = (FileManager.default, "/proc/self/fd")
  let numbers = (try? files.contentsOfDirectory(atPath: folder)) ?? []
  return numbers.lazy.compactMap { Int32($0) }.first {
    (try? files.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) == path
  }
}
