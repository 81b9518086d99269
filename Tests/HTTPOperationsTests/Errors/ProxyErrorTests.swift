import CompositeOperations
import Foundation
import HTTPOperations
import LoopbackServer
import Testing

/// Failures of a proxy, which must not be taken for failures of the server.
@Suite(.timeLimit(.minutes(10))) struct ProxyErrorTests {
  enum Failure: CaseIterable, Sendable {
    case unreachable, unknown, refusing, closing, silent, socksRefusing, socksUnreachable

    /// The reaction of the proxy after it has received the beginning of a request.
    func answer(_ connection: LoopbackConnection) {
      switch self {
      case .unreachable, .unknown, .closing: break
      case .refusing: connection.send(.init(502, "no such server"))
      case .silent: connection.waitForClose()
      // The method is a user with a password; then the user; then the error (RFC 1928, section 6).
      case .socksRefusing: answerSOCKS(connection, error: 2)
      case .socksUnreachable: answerSOCKS(connection, error: 5)
      }
    }

    private func answerSOCKS(_ connection: LoopbackConnection, error: UInt8) {
      for reply in [[5, 2], [1, 0], [5, error, 0, 1, 0, 0, 0, 0, 0, 0]] {
        connection.send(reply)
        _ = connection.receive()
      }
    }

    var isSOCKS: Bool { [.socksRefusing, .socksUnreachable].contains(self) }
  }

  @Test(arguments: Failure.allCases, ["http", "https"])
  func `N9: an error of a proxy names the proxy and not the server`(
    failure: Failure, scheme: String
  ) async throws {
    // A proxy gets a request without TLS as a whole, so only the server can be silent.
    if scheme == "http", [.refusing, .closing, .silent].contains(failure) { return }
    let proxy = try LoopbackServer { _, connection in failure.answer(connection) }
    let address =
      switch failure {
      case .unreachable: "127.0.0.1:\(try LoopbackServer.unusedPort())"
      case .unknown: "noproxy.invalid:3128"
      default: "127.0.0.1:\(proxy.port)"
      }
    var configuration = HTTPConfiguration()
    configuration.timeout = .seconds(failure == .silent ? 1 : 3_600)
    let proxyURL = "\(failure.isSOCKS ? "socks5h" : "http")://me:s3cret@\(address)"
    configuration.proxy = .url(try #require(URL(string: proxyURL)))
    let url = try #require(URL(string: "\(scheme)://server.invalid/a"))
    let outcome = await HTTPDataOperation(url, session: HTTPSession(configuration)).run()
    let error = try #require(outcome.error as? HTTPTransferError, "\(outcome)")
    #expect(error.proxy == address)
    #expect("\(error)".contains("the proxy \(address)"), "\(error)")
    #expect(!"\(error)".contains("s3cret") && !error.wasSent, "\(error)")
    if failure == .socksRefusing {
      #expect(error.reason == .badRequest("the proxy \(address) refused to connect"))
    } else {
      #expect(error.isRetryable, "\(error)")
    }
  }

  // In a child process, because the environment belongs to all tests.
  @Test(arguments: ["", "http://me:s3cret@"])
  func `N9: an error of a proxy of the environment names it`(prefix: String) async throws {
    let port = try LoopbackServer.unusedPort()
    await #expect(processExitsWith: .success) {
      [port = port as UInt16, prefix = prefix as String] in
      unsafe setenv("http_proxy", "\(prefix)127.0.0.1:\(port)", 1)
      unsafe setenv("no_proxy", "other.invalid", 1)
      let url = try #require(URL(string: "http://server.invalid/a"))
      let error = try #require(await HTTPDataOperation(url).run().error as? HTTPTransferError)
      #expect(error.reason == .cannotConnect && error.proxy == "127.0.0.1:\(port)")
      #expect("\(error)".contains("cannot connect through the proxy 127.0.0.1:\(port)"))
      let other = try #require(URL(string: "http://other.invalid/a"))
      let direct = try #require(await HTTPDataOperation(other).run().error as? HTTPTransferError)
      #expect(direct.reason == .hostNotFound && direct.proxy == nil, "\(direct)")
    }
  }

  @Test func `N9: the server behind a proxy is not taken for the proxy`() async throws {
    // The tunnel is made, and then there is no answer to the handshake of TLS.
    let proxy = try LoopbackServer { _, connection in
      connection.send("HTTP/1.1 200 OK\r\n\r\n")
      connection.waitForClose()
    }
    var configuration = HTTPConfiguration()
    configuration.timeout = .seconds(1)
    configuration.proxy = .url(proxy.url())
    let url = try #require(URL(string: "https://server.invalid/a"))
    let outcome = await HTTPDataOperation(url, session: HTTPSession(configuration)).run()
    let error = try #require(outcome.error as? HTTPTransferError, "\(outcome)")
    #expect(error.reason == .timedOut && error.proxy == nil, "\(error)")
    #expect("\(error)".contains("server.invalid did not respond"), "\(error)")
  }
}
