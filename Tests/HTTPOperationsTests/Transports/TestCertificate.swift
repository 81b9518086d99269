import Foundation
import TestSupport
import Testing

/// A certificate for `localhost` and `shop.example`, which is its own authority.
enum TestCertificate {
  static let openssl = ["/usr/bin/openssl", "/usr/local/bin/openssl"]
    .first { FileManager.default.isExecutableFile(atPath: $0) }

  static func make(in folder: TemporaryFolder) async throws -> (key: URL, certificate: URL) {
    let (key, certificate) = (folder["key"], folder["certificate"])
    let program = TestProgram(
      try #require(openssl),
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
        "-keyout", key.path, "-out", certificate.path, "-subj", "/CN=localhost", "-days", "1",
        "-addext", "subjectAltName=DNS:localhost,DNS:shop.example",
      ])
    let status = try await program.start().end()
    try #require(status == 0, "openssl created no certificate")
    return (key, certificate)
  }
}
