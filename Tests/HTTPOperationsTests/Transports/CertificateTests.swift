import CompositeOperations
import Foundation
import HTTPOperations
import LoopbackServer
import TestSupport
import Testing

@Suite(
  .enabled(if: TestCertificate.openssl != nil, "Requires openssl."), .timeLimit(.minutes(10)))
struct CertificateTests {
  @Test func `an untrusted certificate is an error that names the host`() async throws {
    let server = try await CertificateServer()
    defer { server.end() }
    let outcome = await HTTPDataOperation(server.url).run()
    let error = try #require(outcome.error as? HTTPTransferError, "\(outcome)")
    #expect(error.reason == .certificateRefused, "\(error)")
    #expect(!error.isRetryable && !error.wasSent)
    #expect(error.description.contains("the certificate of localhost was rejected"))
  }

  @Test func `the authorities of a session are trusted`() async throws {
    let server = try await CertificateServer()
    defer { server.end() }
    var configuration = HTTPConfiguration()
    configuration.certificates.authorities = server.certificate
    let fetch = HTTPDataOperation(server.url, session: HTTPSession(configuration))
    #expect(try await fetch.run().get().status == 200)
  }

  // In a child process, because the environment belongs to all tests.
  @Test func `the authorities of the variable SSL_CERT_FILE are trusted`() async {
    await #expect(processExitsWith: .success) {
      let server = try await CertificateServer()
      defer { server.end() }
      unsafe setenv("SSL_CERT_FILE", server.certificate.path, 1)
      #expect(try await HTTPDataOperation(server.url).run().get().status == 200)
    }
  }

  @Test func `a server that requires a certificate gets that of the session`() async throws {
    let server = try await CertificateServer("-Verify", "1")
    defer { server.end() }
    var configuration = HTTPConfiguration()
    configuration.certificates.authorities = server.certificate
    let refused = HTTPDataOperation(server.url, session: HTTPSession(configuration))
    let error = try #require(await refused.run().error as? HTTPTransferError)
    #expect(!error.isRetryable && "\(error)".contains("client certificate"), "\(error)")
    configuration.certificates.client = server.certificate
    configuration.certificates.key = server.key
    let accepted = HTTPDataOperation(server.url, session: HTTPSession(configuration))
    #expect(try await accepted.run().get().status == 200)
  }

  @Test func `N19: https uses TLS over a Unix socket, with the host of the URL`() async throws {
    // openssl permits at most 31 bytes.
    let path = "/tmp/\(UUID().uuidString.prefix(13))"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let server = try await CertificateServer("-unix", path)
    defer { server.end() }
    var configuration = HTTPConfiguration()
    configuration.certificates.authorities = server.certificate
    configuration.unixSocket = path
    let session = HTTPSession(configuration)
    for _ in 0..<2 {
      #expect(try await HTTPDataOperation(server.url, session: session).run().get().status == 200)
    }
    let url = try #require(URL(string: "https://containers.invalid/"))
    let outcome = await HTTPDataOperation(url, session: session).run()
    let error = try #require(outcome.error as? HTTPTransferError, "\(outcome)")
    #expect(error.reason == .certificateRefused && !error.wasSent, "\(error)")
  }

  @Test(
    arguments: [
      ("localhost", ["plain=1", "secure=2"]), ("shop.example", ["plain=1"]),
    ] as [(String, Set<String>)])
  func `N20: a Secure cookie is sent by http to a loopback address only`(
    host: String, expected: Set<String>
  ) async throws {
    // Two servers in turn at the same path, for the same host: with TLS and without.
    let path = "/tmp/\(UUID().uuidString.prefix(13))"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let secure = try await CertificateServer(
      "-unix", path,
      answering: """
        HTTP/1.1 200 OK\r
        Set-Cookie: plain=1\r
        Set-Cookie: secure=2; Secure\r
        Content-Length: 0\r
        \r

        """)
    var configuration = HTTPConfiguration()
    configuration.certificates.authorities = secure.certificate
    configuration.unixSocket = path
    configuration.keepsCookies = true
    let session = HTTPSession(configuration)
    let login = try #require(URL(string: "https://\(host)/answer"))
    let outcome = await HTTPDataOperation(login, session: session).run()
    secure.end()
    #expect(try outcome.get().status == 200)
    try? FileManager.default.removeItem(atPath: path)
    let server = try LoopbackServer(atPath: path) { _, connection in
      connection.send(.init("here"))
    }
    let url = try #require(URL(string: "http://\(host)/"))
    _ = try await HTTPDataOperation(url, session: session).run().get()
    let sent = server.requests.map { $0["Cookie"]?.components(separatedBy: "; ") ?? [] }
    #expect(sent.map(Set.init) == [expected])
  }

  @Test func `a file of certificates that is missing is an error that says so`() async throws {
    let server = try await CertificateServer()
    defer { server.end() }
    var configuration = HTTPConfiguration()
    configuration.certificates.authorities = URL(fileURLWithPath: "/none")
    let outcome = await HTTPDataOperation(server.url, session: HTTPSession(configuration)).run()
    let error = try #require(outcome.error as? HTTPTransferError, "\(outcome)")
    #expect("\(error)".contains("a file of the session's certificates cannot be used"))
    #expect("\(error)".contains("/none"))
    #expect(!error.isRetryable)
  }
}

/// A server with TLS, the program `openssl`, with a certificate of its own.
private final class CertificateServer: Sendable {
  let url: URL
  let key: URL
  let certificate: URL
  private let folder: TemporaryFolder
  private let process: RunningProgram

  /// - Parameters:
  ///   - options: More options for `openssl s_server`.
  ///   - answer: The response for the path `/answer`; nil for a page of openssl for each path.
  init(_ options: String..., answering answer: String? = nil) async throws {
    let openssl = try #require(TestCertificate.openssl)
    folder = try TemporaryFolder()
    (key, certificate) = try await TestCertificate.make(in: folder)
    if let answer { try Data(answer.utf8).write(to: folder["answer"]) }
    let port = try LoopbackServer.unusedPort()
    let (process, output) = try Self.start(
      openssl,
      [
        "s_server", "-accept", "127.0.0.1:\(port)", "-key", key.path, "-cert", certificate.path,
        answer == nil ? "-www" : "-HTTP",
      ] + options, in: folder.path)
    self.process = process
    url = try #require(URL(string: "https://localhost:\(port)/"))
    // openssl prints ACCEPT when it listens.
    var log = ""
    while !log.contains("ACCEPT") {
      let bytes = await onNewThread { output.availableData }
      try #require(!bytes.isEmpty, "\(log)")
      log += String(decoding: bytes, as: UTF8.self)
    }
  }

  func end() {
    kill(process.processIdentifier, SIGTERM)
    _ = process.waitUntilExit()
  }

  private static func start(
    _ program: String, _ arguments: [String], in folder: String
  ) throws -> (process: RunningProgram, output: FileHandle) {
    let pipe = Pipe()
    let process = try TestProgram(program, arguments, in: folder)
      .start(output: pipe.fileHandleForWriting)
    try pipe.fileHandleForWriting.close()
    return (process, pipe.fileHandleForReading)
  }
}
