import CompositeOperations
import Foundation
import HTTPOperations
import LoopbackServer
import TestSupport
import Testing

/// Partial files that are resumed only if no other user can have written them.
@Suite(.timeLimit(.minutes(10))) struct PartialFileTests {
  private static let bytes = someBytes(200_000)

  /// Changes that another user can have made, or that allow one.
  enum Change: CaseIterable, Sendable {
    case writablePart, writableRecord, linkedPart, linkedRecord, foreignPart, foreignRecord

    var needsRoot: Bool { self == .foreignPart || self == .foreignRecord }

    func apply(in folder: TemporaryFolder) throws {
      let (part, record) = (folder["file.partial"], folder["file.partial.json"])
      switch self {
      case .writablePart: try #require(unsafe chmod(part.path, 0o622) == 0)
      case .writableRecord: try #require(unsafe chmod(record.path, 0o620) == 0)
      case .linkedPart: try FileManager.default.linkItem(at: part, to: folder["other"])
      case .linkedRecord: try FileManager.default.linkItem(at: record, to: folder["other"])
      case .foreignPart: try #require(unsafe chown(part.path, 1_234, 5_678) == 0)
      case .foreignRecord: try #require(unsafe chown(record.path, 1_234, 5_678) == 0)
      }
    }
  }

  @Test(arguments: Change.allCases)
  func `N3: a partial file that another user can have written is not resumed`(
    change: Change
  ) async throws {
    if change.needsRoot, geteuid() != 0 { return }
    let folder = try TemporaryFolder()
    let server = try Self.server()
    let operation = HTTPDownloadOperation(server.url(), to: folder["file"])
    #expect(await operation.run().error is HTTPTransferError)
    let half = try Data(contentsOf: folder["file.partial"])
    try change.apply(in: folder)
    let download = try await operation.run().get()
    #expect(download.resumedByteCount == 0)
    #expect(server.requests.map { $0["Range"] } == [nil, nil])
    #expect(try Data(contentsOf: folder["file"]) == Data(Self.bytes))
    // The other name of a linked file keeps its contents.
    if change == .linkedPart { #expect(try Data(contentsOf: folder["other"]) == half) }
  }

  @Test func `N3: a partial file is private until it is complete`() async throws {
    let folder = try TemporaryFolder()
    let server = try Self.server()
    let operation = HTTPDownloadOperation(server.url(), to: folder["file"])
    #expect(await operation.run().error is HTTPTransferError)
    for name in ["file.partial", "file.partial.json"] {
      #expect(status(of: folder[name]).st_mode & 0o777 == 0o600)
    }
    try Data("new".utf8).write(to: folder["new"])
    #expect(try await operation.run().get().resumedByteCount == 70_000)
    // As any other new file.
    #expect(status(of: folder["file"]).st_mode == status(of: folder["new"]).st_mode)
    #expect(try folder.names() == ["file", "new"])
  }

  @Test func `N3: a link in place of a partial file is an error, and its target stays`()
    async throws
  {
    let folder = try TemporaryFolder()
    try folder.write("target", to: "target")
    _ = try folder.link("file.partial", to: folder["target"].path)
    let server = try Self.server()
    let outcome = await HTTPDownloadOperation(server.url(), to: folder["file"]).run()
    let error = try #require(outcome.error as? HTTPFileError, "\(outcome)")
    #expect("\(error)".contains("file.partial cannot be written: it is a symbolic link. Remove it"))
    #expect(try String(contentsOf: folder["target"], encoding: .utf8) == "target")
  }

  @Test func `N3: a partial file that is replaced during a download is an error`() async throws {
    let folder = try TemporaryFolder()
    let server = try LoopbackServer { _, connection in
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n")
      try? FileManager.default.removeItem(at: folder["file.partial"])
      _ = try? folder.write("evil", to: "file.partial")
      connection.send("new")
    }
    // The file is open before the request is sent.
    let outcome = await HTTPDownloadOperation(server.url(), to: folder["file"]).run()
    let error = try #require(outcome.error as? HTTPFileError, "\(outcome)")
    #expect("\(error)".contains("file.partial is not the file that was written"))
    #expect(try !folder.names().contains("file"))
  }

  @Test(arguments: [true, false])
  func `N3: a failed download leaves a file that has replaced its partial file`(
    hasRecord: Bool
  ) async throws {
    let folder = try TemporaryFolder()
    let server = try LoopbackServer { _, connection in
      try? FileManager.default.removeItem(at: folder["file.partial"])
      _ = try? folder.write("other", to: "file.partial")
      if hasRecord { _ = try? folder.write("record", to: "file.partial.json") }
      let headers = hasRecord ? [#"ETag: "v1""#] : []
      connection.send(
        .init(headers: headers, body: Array(Self.bytes.prefix(70_000)), length: 200_000))
    }
    let outcome = await HTTPDownloadOperation(server.url(), to: folder["file"]).run()
    #expect(outcome.error is HTTPTransferError, "\(outcome)")
    #expect(try folder.names() == ["file.partial"] + (hasRecord ? ["file.partial.json"] : []))
    #expect(try String(contentsOf: folder["file.partial"], encoding: .utf8) == "other")
    if hasRecord {
      #expect(try String(contentsOf: folder["file.partial.json"], encoding: .utf8) == "record")
    }
  }

  @Test(arguments: [nil, "release"])
  func `N3: a key declares that another URL is the same resource`(key: String?) async throws {
    let folder = try TemporaryFolder()
    let server = try Self.server()
    let downloads = ["/a?sig=1", "/a?sig=2"].map {
      HTTPDownloadOperation(server.url($0), to: folder["file"], resumeKey: key)
    }
    #expect(await downloads[0].run().error is HTTPTransferError)
    let download = try await downloads[1].run().get()
    #expect(download.resumedByteCount == (key == nil ? 0 : 70_000))
    #expect(try Data(contentsOf: folder["file"]) == Data(Self.bytes))
  }

  @Test func `a download with another key starts over`() async throws {
    let folder = try TemporaryFolder()
    let server = try Self.server()
    for key in ["one", "two"] {
      _ = await HTTPDownloadOperation(server.url(), to: folder["file"], resumeKey: key).run()
    }
    #expect(server.requests.map { $0["Range"] } == [nil, nil])
    #expect(try Data(contentsOf: folder["file"]) == Data(Self.bytes))
  }

  @Test(arguments: [
    String(repeating: "a", count: 242), String(repeating: "a", count: 243),
    String(repeating: "a", count: 255), String(repeating: "é", count: 127),
  ])
  func `N3: a file with a name of any length is downloaded and resumed`(
    name: String
  ) async throws {
    let folder = try TemporaryFolder()
    let server = try Self.server()
    let operation = HTTPDownloadOperation(server.url(), to: folder[name])
    #expect(await operation.run().error is HTTPTransferError)
    // A file whose name begins in the same way has another partial file.
    let otherServer = try Self.server()
    let other = HTTPDownloadOperation(otherServer.url(), to: folder[name.dropLast() + "b"])
    #expect(await other.run().error is HTTPTransferError)
    #expect(try folder.names().count == 4)
    #expect(try await operation.run().get().resumedByteCount == 70_000)
    #expect(try Data(contentsOf: folder[name]) == Data(Self.bytes))
  }

  /// A server that cuts the first response, and sends the rest or the whole then.
  private static func server() throws -> LoopbackServer {
    try LoopbackServer { request, connection in
      let tag = #"ETag: "v1""#
      if request.number == 0 {
        connection.send(
          .init(headers: [tag], body: Array(bytes.prefix(70_000)), length: bytes.count))
      } else if request["Range"] == nil {
        connection.send(.init(headers: [tag], body: bytes))
      } else {
        connection.send(
          .init(
            206, headers: [tag, "Content-Range: bytes 70000-199999/200000"],
            body: Array(bytes.dropFirst(70_000))))
      }
    }
  }
}
