import Foundation
import HTTPOperations
import LoopbackServer
import TestSupport
import Testing

/// A real server of HTTP/2 over TLS, the program `nginx`. It logs the connection, the method and the
/// query of each request.
final class NginxServer: Sendable {
  static let nginx = ["/usr/sbin/nginx", "/usr/local/bin/nginx", "/opt/homebrew/bin/nginx"]
    .first { FileManager.default.isExecutableFile(atPath: $0) }
  static let isInstalled = nginx != nil && TestCertificate.openssl != nil

  private let port: UInt16
  private let folder: TemporaryFolder
  private let certificate: URL
  private let process: RunningProgram

  /// - Parameters:
  ///   - settings: Directives for the server, such as `keepalive_requests 20;`.
  ///   - readsBodies: Whether it receives the body of a request before it answers.
  init(
    _ settings: String, protocols: String = "ssl http2", readsBodies: Bool = false
  ) async throws {
    let answer = #"return 200 "ok""#
    let folder = try TemporaryFolder()
    let port = try LoopbackServer.unusedPort()
    let (key, certificate) = try await TestCertificate.make(in: folder)
    (self.folder, self.port, self.certificate) = (folder, port, certificate)
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
      .map { "\($0)_temp_path \(folder.path)/\($0);" }.joined(separator: " ")
    try folder.write(
      """
      daemon off; master_process off; pid \(folder.path)/pid; error_log stderr;
      events { worker_connections 4096; }
      http {
        \(temporary)
        log_format short "$connection $request_method $args"; access_log \(folder.path)/log short;
        server {
          listen 127.0.0.1:\(port) \(protocols); \(settings)
          ssl_certificate \(certificate.path); ssl_certificate_key \(key.path);
          location / { \(readsBodies ? "proxy_pass http://unix:\(folder.path)/inner" : answer); }
        }
        server { listen unix:\(folder.path)/inner; access_log off; location / { \(answer); } }
      }
      """, to: "conf")
    process = try TestProgram(
      try #require(Self.nginx), ["-p", folder.path, "-e", "stderr", "-c", folder["conf"].path]
    ).start()
    // It writes the file when it listens.
    try await eventually {
      (try? Data(contentsOf: folder["pid"])).map { !$0.isEmpty } ?? false
    }
  }

  /// A configuration that trusts the server.
  var configuration: HTTPConfiguration {
    var configuration = HTTPConfiguration()
    configuration.certificates.authorities = certificate
    return configuration
  }

  func url(_ query: String) throws -> URL {
    try #require(URL(string: "https://localhost:\(port)/?\(query)"))
  }

  /// Ends the server after the requests that it processes.
  ///
  /// - Returns: The requests that it has processed.
  func end() async throws -> [(connection: String, method: String, query: String)] {
    kill(process.processIdentifier, SIGQUIT)
    _ = await process.end()
    return try String(contentsOf: folder["log"], encoding: .utf8).split(separator: "\n").map {
      let parts = $0.split(separator: " ").map(String.init)
      return (parts[0], parts[1], parts[2])
    }
  }
}
