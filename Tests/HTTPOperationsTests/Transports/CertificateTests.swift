import CompositeOperations
import Foundation
import HTTPOperations
import LoopbackServer
import TestSupport
import Testing

@Suite struct CertificateTests {
  private static let openssl = ["/usr/bin/openssl", "/usr/local/bin/openssl"]
    .first { FileManager.default.isExecutableFile(atPath: $0) }

  @Test(.enabled(if: openssl != nil, "Requires openssl."))
  func `an untrusted certificate is an error that names the host`() async throws {
    let openssl = try #require(Self.openssl)
    let folder = try TemporaryFolder()
    let (key, certificate) = (folder["key"].path, folder["certificate"].path)
    let make = try Self.start(
      openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
      "-nodes",
      "-keyout", key, "-out", certificate, "-subj", "/CN=localhost", "-days", "1"
    ).process
    let status = await make.end()
    try #require(status == 0, "openssl created no certificate")
    let port = try LoopbackServer.unusedPort()
    let server = try Self.start(
      openssl, "s_server", "-accept", "127.0.0.1:\(port)", "-key", key, "-cert", certificate, "-www"
    )
    defer {
      kill(server.process.processIdentifier, SIGTERM)
      _ = server.process.waitUntilExit()
    }
    // openssl prints ACCEPT when it listens.
    var log = ""
    while !log.contains("ACCEPT") {
      let output = server.output
      let bytes = await onNewThread { output.availableData }
      try #require(!bytes.isEmpty, "\(log)")
      log += String(decoding: bytes, as: UTF8.self)
    }
    let url = try #require(URL(string: "https://localhost:\(port)/"))
    let outcome = await HTTPDataOperation(url).run()
    let error = try #require(outcome.error as? HTTPTransferError, "\(outcome)")
    #expect(error.reason == .certificateRefused, "\(error)")
    #expect(!error.isRetryable)
    #expect(error.description.contains("the certificate of localhost was rejected"))
  }

  private static func start(
    _ program: String, _ arguments: String...
  ) throws -> (process: RunningProgram, output: FileHandle) {
    let pipe = Pipe()
    let process = try TestProgram(program, arguments).start(output: pipe.fileHandleForWriting)
    try pipe.fileHandleForWriting.close()
    return (process, pipe.fileHandleForReading)
  }
}
