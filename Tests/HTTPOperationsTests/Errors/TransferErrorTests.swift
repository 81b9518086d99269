import CompositeOperations
import Foundation
import HTTPOperations
import LoopbackServer
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Errors of connections, which name the address and the remedy.
@Suite(.timeLimit(.minutes(10))) struct TransferErrorTests {
  @Test func `a host that does not exist is an error that names it`() async throws {
    let url = try #require(URL(string: "http://nohost.invalid/a"))
    let error = try await failure(of: url)
    #expect(error.reason == .hostNotFound)
    #expect(error.isRetryable)
    #expect(
      error.description.hasPrefix(
        "GET http://nohost.invalid/a failed: the host nohost.invalid was not found"))
    #expect(
      error.description.hasSuffix(
        "Check the spelling, and that this machine can resolve host names."))
  }

  @Test func `a port without a listener is an error with the remedy`() async throws {
    let port = try LoopbackServer.unusedPort()
    let error = try await failure(of: #require(URL(string: "http://127.0.0.1:\(port)/a")))
    #expect(error.reason == .cannotConnect)
    #expect(error.description.contains("Check the port, and that the server is running."))
  }

  @Test func `a server that does not respond is a timeout`() async throws {
    let server = try LoopbackServer { _, connection in connection.waitForClose() }
    var request = URLRequest(url: server.url())
    request.timeoutInterval = 1
    let error = try #require(await HTTPDataOperation(request).run().error as? HTTPTransferError)
    #expect(error.reason == .timedOut)
    #expect(error.isRetryable)
  }

  @Test(arguments: [
    "", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n5\r\nwo",
  ])
  func `a connection that ends before the response does is a lost connection`(response: String)
    async throws
  {
    let server = try LoopbackServer { _, connection in connection.send(response) }
    let error = try await failure(of: server.url())
    #expect(error.reason == .connectionLost, "\(error)")
    #expect(error.isRetryable)
    #expect(error.head?.status == (response.contains("\r\n\r\n") ? 200 : nil))
  }

  @Test func `the head of a response that is cut off is in the error, but not in its texts`()
    async throws
  {
    let server = try LoopbackServer { _, connection in
      connection.send("HTTP/1.1 200 OK\r\nNext-Token: secret\r\nContent-Length: 9\r\n\r\nabc")
    }
    let error = try await failure(of: server.url("/a?token=secret"))
    #expect(error.head?.headers["Next-Token"] == "secret")
    #expect(error.head?.url == server.url("/a?token=secret"))
    var dumped = ""
    dump(error, to: &dumped)
    #expect(!dumped.contains("secret") && !"\(error)".contains("secret"))
    let port = try LoopbackServer.unusedPort()
    let unsent = try await failure(of: #require(URL(string: "http://127.0.0.1:\(port)/a")))
    #expect(unsent.head == nil)
  }

  @Test func `a connection that is reset is a lost connection`() async throws {
    let server = try LoopbackServer { _, connection in
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")
      connection.reset()
    }
    #expect(try await failure(of: server.url()).reason == .connectionLost)
  }

  @Test func `bytes after the Content-Length are not part of the body`() async throws {
    let server = try LoopbackServer(.init("abcdefgh", length: 3))
    let response = try await HTTPDataOperation(server.url()).run().get()
    #expect(response.body == Data("abc".utf8))
  }

  @Test func `a response that is not HTTP is a permanent error`() async throws {
    let server = try LoopbackServer { _, connection in connection.send("\u{1}hello there\r\n\r\n") }
    let error = try await failure(of: server.url())
    #expect(error.reason == .badAnswer)
    #expect(!error.isRetryable)
  }

  @Test func `TLS with a server that does not support it is an error`() async throws {
    let server = try LoopbackServer(.init(400, "plain"))
    let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/"))
    let error = try await failure(of: url)
    let reasons: [HTTPTransferError.Reason] = [.notSecure, .connectionLost]
    #expect(reasons.contains(error.reason), "\(error)")
  }

  @Test func `N1: errors show an address without its secrets`() async throws {
    let port = try LoopbackServer.unusedPort()
    let text = "http://me:pass@127.0.0.1:\(port)/a?token=abc&page=2&flag#part"
    let error = try await failure(of: #require(URL(string: text)))
    #expect(error.request.address == "http://127.0.0.1:\(port)/a?token=…&page=…&…")
    var dumped = ""
    dump(error, to: &dumped)
    for secret in ["me:", "pass", "abc", "part"] {
      #expect(!dumped.contains(secret) && !"\(error)".contains(secret))
    }
  }

  private func failure(of url: URL) async throws -> HTTPTransferError {
    let outcome = await HTTPDataOperation(url).run()
    return try #require(outcome.error as? HTTPTransferError, "\(outcome)")
  }
}
