import CompositeOperations
import Foundation
import HTTPOperations
import LoopbackServer
import SystemSupport
import TestSupport
import Testing

/// Downloads whose SHA-256 is known before.
@Suite(.timeLimit(.minutes(10))) struct DownloadHashTests {
  /// More than a block that is read at once.
  private static let bytes = someBytes(1_300_000)
  private static let hash = sha256(bytes)
  private static let partSize = 1_200_000
  private static let validator = #"ETag: "1""#

  private static func sha256(_ bytes: [UInt8]) -> String {
    var hash = ContentHash()
    hash.append(bytes.span)
    return hash.text
  }

  enum Form: CaseIterable, Sendable {
    case announced, unannounced, compressed

    func response(_ text: String) -> LoopbackResponse {
      switch self {
      case .announced: .init(text)
      case .unannounced: .init(text, length: -1)
      // The hash is that of the decompressed bytes.
      case .compressed:
        .init(headers: ["Content-Encoding: gzip"], body: HTTPOperationsTests.compressed(text))
      }
    }
  }

  @Test(arguments: Form.allCases)
  func `N21: a download replaces the old file only if it has the expected SHA-256`(
    form: Form
  ) async throws {
    let folder = try TemporaryFolder()
    // The example of FIPS 180-4, and the hash of "abd".
    let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    let other = "a52d159f262b2c6ddb724a61840befc36eb30c88877a4030b65cbe86298449c9"
    try Data("old".utf8).write(to: folder["file"])
    let wrong = try LoopbackServer(form.response("abd"))
    let outcome = await HTTPDownloadOperation(
      wrong.url("/a?key=secret"), to: folder["file"], sha256: expected
    ).retryingHTTP(backoff: .none).run()
    let errors = try #require((outcome.error as? RetryError)?.errors, "\(outcome)")
    let error = try #require(errors.last as? HTTPFileError, "\(outcome)")
    #expect(errors.count == 1 && wrong.requests.count == 1 && !error.isRetryable)
    #expect(error.foundSHA256 == other && error.path == folder["file"].path)
    let (address, path) = ("\(wrong.url("/a"))", folder["file"].path)
    let text = [
      "GET \(address)?key=…: the file \(path) does not have the expected contents:",
      "the SHA-256 of the download is \(other), and \(expected) was expected.",
      "The download was removed, and the destination is unchanged. Download it again.",
      "If its hash is the same then, compare both with the source of the file.",
    ]
    #expect(error.description == text.joined(separator: " "))
    #expect(try String(contentsOf: folder["file"], encoding: .utf8) == "old")
    #expect(try folder.names() == ["file"])
    for hash in [expected, expected.uppercased()] {
      let server = try LoopbackServer(form.response("abc"))
      let download = HTTPDownloadOperation(server.url(), to: folder["file"], sha256: hash)
      #expect(try await download.run().get().byteCount == 3)
      #expect(try String(contentsOf: folder["file"], encoding: .utf8) == "abc")
    }
  }

  /// What is in a partial file when its download is resumed.
  enum Part: CaseIterable, Sendable { case intact, changed, completeIntact, completeChanged }

  @Test(arguments: Part.allCases)
  func `N21: a resumed download has the SHA-256 of all bytes on disk`(part: Part) async throws {
    let folder = try TemporaryFolder()
    let isComplete = part == .completeIntact || part == .completeChanged
    let isChanged = part == .changed || part == .completeChanged
    let server = try Self.server(first: isComplete ? Self.bytes.count : Self.partSize)
    // The first run does not know the hash.
    let first = await HTTPDownloadOperation(server.url(), to: folder["file"]).run()
    #expect(first.error is HTTPTransferError, "\(first)")
    if isChanged {
      var bytes = try Data(contentsOf: folder["file.partial"])
      bytes[1_100_000] ^= 1
      try Self.overwrite(folder["file.partial"], with: bytes)
    }
    let checked = HTTPDownloadOperation(server.url(), to: folder["file"], sha256: Self.hash)
    let download = try await checked.run().get()
    #expect(server.requests[1]["Range"] != nil)
    #expect(download.byteCount == Self.bytes.count)
    if isChanged {
      // The whole is requested.
      #expect(download.resumedByteCount == 0)
      #expect(server.requests.count == 3 && server.requests[2]["Range"] == nil)
    } else {
      #expect(download.resumedByteCount == (isComplete ? Self.bytes.count : Self.partSize))
      #expect(server.requests.count == 2)
    }
    #expect(try Data(contentsOf: folder["file"]) == Data(Self.bytes))
    #expect(try folder.names() == ["file"])
  }

  @Test func `N21: a resumed download with another SHA-256 starts again only once`() async throws {
    let folder = try TemporaryFolder()
    try Data("old".utf8).write(to: folder["file"])
    let server = try Self.server(first: Self.partSize)
    let first = await HTTPDownloadOperation(server.url(), to: folder["file"]).run()
    #expect(first.error is HTTPTransferError, "\(first)")
    let expected = String(Self.hash.reversed())
    let outcome = await HTTPDownloadOperation(
      server.url(), to: folder["file"], sha256: expected
    ).retryingHTTP(backoff: .none).run()
    let errors = try #require((outcome.error as? RetryError)?.errors, "\(outcome)")
    let error = try #require(errors.last as? HTTPFileError, "\(outcome)")
    #expect(errors.count == 1 && error.foundSHA256 == Self.hash)
    let ranges = server.requests.map { $0["Range"] }
    #expect(ranges == [nil, "bytes=\(Self.partSize)-", nil])
    #expect(try String(contentsOf: folder["file"], encoding: .utf8) == "old")
    #expect(try folder.names() == ["file"])
  }

  @Test func `N21: a part with another SHA-256 is not resumed again`() async throws {
    let folder = try TemporaryFolder()
    let range = "Content-Range: bytes 70000-199999/200000"
    let rest = Array(Self.bytes[70_000..<200_000])
    let server = try LoopbackServer(
      .init(headers: [Self.validator], body: [UInt8](repeating: 0, count: 70_000), length: 200_000),
      .init(206, headers: [range, Self.validator], body: rest), .init(503),
      .init(headers: [Self.validator], body: Self.bytes))
    let download = HTTPDownloadOperation(server.url(), to: folder["file"], sha256: Self.hash)
    #expect(await download.run().error is HTTPTransferError)
    #expect(await download.run().error is HTTPStatusError)
    #expect(try folder.names() == [])
    #expect(try await download.run().get().resumedByteCount == 0)
    #expect(server.requests.map { $0["Range"] } == [nil, "bytes=70000-", nil, nil])
    #expect(try Data(contentsOf: folder["file"]) == Data(Self.bytes))
  }

  @Test func `N21: a file that is requested again as a whole has its own SHA-256`() async throws {
    let folder = try TemporaryFolder()
    // The rest has no validator, so it is dropped.
    let server = try LoopbackServer(
      .init(headers: [Self.validator], body: Array(Self.bytes.prefix(70_000)), length: 200_000),
      .init(206, headers: ["Content-Range: bytes 70000-199999/200000"], length: 130_000),
      .init(body: Self.bytes))
    let download = HTTPDownloadOperation(server.url(), to: folder["file"], sha256: Self.hash)
    #expect(await download.run().error is HTTPTransferError)
    #expect(try await download.run().get().byteCount == Self.bytes.count)
    #expect(server.requests.map { $0["Range"] } == [nil, "bytes=70000-", nil])
  }

  @Test(arguments: [
    "", "abc", String(repeating: "a", count: 63), String(repeating: "a", count: 65),
    String(repeating: "a", count: 63) + "g", String(repeating: "a", count: 62) + "é",
    String(repeating: "a", count: 63) + "\n",
  ])
  func `N21: a malformed SHA-256 is an error that says what was expected`(
    hash: String
  ) async throws {
    let folder = try TemporaryFolder()
    let server = try LoopbackServer(.init("abc"))
    let outcome = await HTTPDownloadOperation(server.url(), to: folder["file"], sha256: hash).run()
    let error = try #require(outcome.error as? HTTPFileError, "\(outcome)")
    #expect(error.foundSHA256 == nil && error.path == folder["file"].path)
    let text =
      "file cannot be checked: the expected SHA-256 must have 64 hexadecimal digits (was "
      + "\(hash.debugDescription), \(hash.count) characters)."
    #expect(error.description.hasSuffix(text))
    #expect(server.requests.isEmpty)
    #expect(try folder.names() == [])
  }

  @Test func `N21: the error of a device says that it was written`() async throws {
    let folder = try TemporaryFolder()
    let null = try folder.link("null", to: "/dev/null")
    let server = try LoopbackServer(.init(body: Self.bytes))
    let hash = Self.hash
    let good = HTTPDownloadOperation(server.url(), to: null, sha256: hash)
    #expect(try await good.run().get().byteCount == Self.bytes.count)
    let expected = String(hash.reversed())
    let outcome = await HTTPDownloadOperation(server.url(), to: null, sha256: expected).run()
    let error = try #require(outcome.error as? HTTPFileError, "\(outcome)")
    #expect(error.foundSHA256 == hash)
    #expect("\(error)".contains("Its bytes have been written there: do not use them."))
    #expect(try folder.names() == ["null"])
  }

  /// Writes the bytes of a file again. It stays the same file.
  private static func overwrite(_ file: URL, with bytes: Data) throws {
    let handle = try FileHandle(forWritingTo: file)
    try handle.write(contentsOf: bytes)
    try handle.close()
  }

  /// A server that sends a number of bytes first, whose length is unknown and whose end is missing.
  private static func server(first count: Int) throws -> LoopbackServer {
    try LoopbackServer { request, connection in
      guard request.number > 0 else {
        connection.send("HTTP/1.1 200 OK\r\n\(validator)\r\nTransfer-Encoding: chunked\r\n\r\n")
        connection.send("\(String(count, radix: 16))\r\n")
        connection.send(Array(bytes.prefix(count)))
        connection.send("\r\n")
        return
      }
      guard request["Range"] != nil else {
        return connection.send(.init(headers: [validator], body: bytes))
      }
      if count == bytes.count {
        let range = "Content-Range: bytes */\(count)"
        return connection.send(.init(416, headers: [range, validator]))
      }
      let range = "Content-Range: bytes \(count)-\(bytes.count - 1)/\(bytes.count)"
      connection.send(
        .init(206, headers: [range, validator], body: Array(bytes.dropFirst(count))))
    }
  }
}
