import CompositeOperations
import Foundation
import HTTPOperations
import LoopbackServer
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct UnixSocketTests {
  /// A folder with a short path, whatever the folder for temporary files is.
  private static func folder() throws -> TemporaryFolder {
    try TemporaryFolder(in: URL(fileURLWithPath: "/tmp"))
  }

  private static func configuration(at path: String) -> HTTPConfiguration {
    var configuration = HTTPConfiguration()
    configuration.unixSocket = path
    configuration.timeout = .seconds(3_600)
    return configuration
  }

  private static func session(at path: String) -> HTTPSession {
    HTTPSession(configuration(at: path))
  }

  private static func error(
    of session: HTTPSession, to address: String = "http://containers.invalid/a"
  ) async throws -> HTTPTransferError {
    let outcome = await HTTPDataOperation(try #require(URL(string: address)), session: session)
      .run()
    return try #require(outcome.error as? HTTPTransferError, "\(outcome)")
  }

  @Test func `N19: requests to any host are sent to the Unix socket, and not to a proxy`()
    async throws
  {
    let folder = try Self.folder()
    let path = folder["socket"].path
    let proxy = try LoopbackServer(.init("from the proxy"))
    let server = try LoopbackServer(atPath: path) { request, connection in
      if request.path == "/a" {
        return connection.send(.init(307, headers: ["Location: http://other.invalid:81/b"]))
      }
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhere")
      connection.keepOpen()
    }
    var configuration = Self.configuration(at: path)
    configuration.proxy = .url(proxy.url())
    configuration.headers = ["Authorization": "Bearer s3cret"]
    let session = HTTPSession(configuration)
    let url = try #require(URL(string: "http://containers.invalid/a"))
    for _ in 0..<2 {
      let upload = HTTPUploadOperation(url, from: .data(Data(count: 100_000)), session: session)
      #expect(try await upload.run().get().body == Data("here".utf8))
    }
    #expect(server.requests.map(\.path) == ["/a", "/b", "/a", "/b"])
    let hosts = server.requests.map { $0["Host"] }
    #expect(hosts.prefix(2) == ["containers.invalid", "other.invalid:81"])
    // The redirect leads to another host, as far as the client knows.
    #expect(server.requests.prefix(2).map { $0["Authorization"] } == ["Bearer s3cret", nil])
    #expect(server.requests.allSatisfy { $0.body.count == 100_000 })
    #expect(proxy.requests.isEmpty)
  }

  // In a child process, because the environment belongs to all tests.
  @Test func `N19: a proxy of the environment is not used for a Unix socket`() async throws {
    await #expect(processExitsWith: .success) {
      unsafe setenv("http_proxy", "127.0.0.1:1", 1)
      let folder = try Self.folder()
      let server = try LoopbackServer(atPath: folder["socket"].path) { _, connection in
        connection.send(.init("here"))
      }
      let url = try #require(URL(string: "http://containers.invalid/a"))
      let fetch = HTTPDataOperation(url, session: Self.session(at: folder["socket"].path))
      #expect(try await fetch.run().get().status == 200)
      #expect(server.requests.map(\.path) == ["/a"])
    }
  }

  @Test func `N19: all URLs of a Unix socket share its connectionsPerHost`() async throws {
    let folder = try Self.folder()
    let path = folder["socket"].path
    let server = try LoopbackServer(atPath: path) { request, connection in
      if request.path == "/b" { return connection.send(.init("b")) }
      connection.send(.init("begun", length: 100))
      connection.waitForClose()
    }
    var configuration = Self.configuration(at: path)
    configuration.connectionsPerHost = 1
    let session = HTTPSession(configuration)
    let url = try #require(URL(string: "http://a.invalid/"))
    let stream = HTTPStreamOperation(url, session: session) { _ in
      try await Self.error(of: session, to: "http://b.invalid/b")
    }
    #expect(try await stream.run().get().reason == .deadlock)
    #expect(server.requests.count == 1)
  }

  @Test func `N19: bytes on an idle connection of a Unix socket are not taken for a response`()
    async throws
  {
    let folder = try Self.folder()
    let path = folder["socket"].path
    let server = try LoopbackServer(atPath: path) { request, connection in
      let response = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n"
      connection.send("\(response)\(request.number)")
      connection.send("\(response)x")
      connection.keepOpen()
    }
    let session = Self.session(at: path)
    let url = try #require(URL(string: "http://containers.invalid/"))
    for number in 0..<5 {
      let body = try await HTTPDataOperation(url, session: session).run().get().body
      #expect(body == Data("\(number)".utf8))
    }
    #expect(server.requests.count == 5)
  }

  enum Fault: CaseIterable, Sendable {
    case missing, isFile, isFolder, isDeserted, isFull, isBelowFile

    var problem: String {
      switch self {
      case .missing: "No such file or directory"
      case .isFile, .isFolder: "it is not a socket"
      case .isDeserted: "Connection refused"
      case .isFull: "the queue of its server is full"
      case .isBelowFile: "Not a directory"
      }
    }

    var advice: String {
      switch self {
      case .missing: "Check the path, and that the server is running."
      case .isFile, .isFolder: "Use the path of a socket."
      case .isDeserted: "Start the server that listens on it."
      case .isFull: "Try again, or lower the connectionsPerHost of the session."
      case .isBelowFile: "Check the path."
      }
    }
  }

  @Test(arguments: Fault.allCases, ["http", "https"])
  func `N19: a Unix socket that cannot be used is an error that names it and says what to do`(
    fault: Fault, scheme: String
  ) async throws {
    let folder = try Self.folder()
    var path = folder["socket"].path
    var server: FullServer?
    switch fault {
    case .missing: break
    case .isFile: try Data().write(to: folder["socket"])
    case .isFolder: path = folder.url.path
    case .isDeserted: _ = try FullServer(atPath: path)
    case .isFull: server = try FullServer(atPath: path)
    case .isBelowFile:
      try Data().write(to: folder["socket"])
      path += "/socket"
    }
    defer { withExtendedLifetime(server) {} }
    let error = try await Self.error(
      of: Self.session(at: path), to: "\(scheme)://containers.invalid/a")
    #expect(error.reason == .cannotConnect && !error.wasSent && error.isRetryable)
    #expect(error.proxy == nil)
    let text = "cannot connect to containers.invalid (the Unix socket \(path): \(fault.problem))"
    #expect("\(error)".contains(text) && "\(error)".hasSuffix(fault.advice), "\(error)")
  }

  // Root may write to every socket.
  @Test(.enabled(if: geteuid() != 0, "Requires a user other than root."))
  func `N19: a Unix socket without permission is an error that names it and says what to do`()
    async throws
  {
    let folder = try Self.folder()
    let path = folder["socket"].path
    let server = try LoopbackServer(atPath: path) { _, connection in connection.send(.init()) }
    try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: path)
    let error = try await Self.error(of: Self.session(at: path))
    #expect("\(error)".contains("the Unix socket \(path): Permission denied"), "\(error)")
    #expect("\(error)".contains("as a user who may write to it"), "\(error)")
    #expect(server.requests.isEmpty)
  }

  @Test func `N19: the longest path of a Unix socket is used, and a longer one is an error`()
    async throws
  {
    let folder = try Self.folder()
    let path = folder[String(repeating: "s", count: 107 - folder.path.utf8.count - 1)].path
    try #require(path.utf8.count == 107)
    let server = try LoopbackServer(atPath: path) { _, connection in
      connection.send(.init("here"))
    }
    let url = try #require(URL(string: "http://containers.invalid/a"))
    let body = try await HTTPDataOperation(url, session: Self.session(at: path)).run().get().body
    #expect(body == Data("here".utf8) && server.requests.count == 1)
    for (path, problem) in [
      ("\(path)ä", "has 109 bytes, and may have at most 107"), ("", "is empty"),
      ("\(path.dropLast())\0", "has a zero byte"),
    ] {
      let error = try await Self.error(of: Self.session(at: path))
      guard case .badRequest(let text) = error.reason else { throw error }
      #expect(text.contains(problem) && text.contains(path.debugDescription), "\(error)")
      #expect("\(error)".hasSuffix("Change the configuration of the session."), "\(error)")
      #expect(!error.wasSent && !error.isRetryable)
    }
    #expect(server.requests.count == 1)
  }

  @Test func `N19: a URLSession sends nothing if the configuration has a Unix socket`()
    async throws
  {
    let server = try LoopbackServer(.init("from the network"))
    let configuration = Self.configuration(at: "/tmp/socket")
    let session = HTTPSession(configuration, on: URLSessionTransport(configuration))
    let error = try await Self.error(of: session, to: server.url().absoluteString)
    #expect(
      error.reason == .badRequest("a unixSocket is supported only on Linux, with libcurl"))
    #expect(server.requests.isEmpty)
  }
}
