import Glibc
import HTTPServing
import SystemSupport
import Testing

@Suite(.timeLimit(.minutes(10)), .enabled(if: PeerUser.isKnown)) struct UserTests {
  private let own = SystemUser.current

  private func status(
    at address: String, users: Set<UInt32>, isIPv6: Bool = false
  ) async throws -> String? {
    let server = try await ServerFixture.start(at: address, users: users) { _ in
      HTTPResponse(.text, "ok")
    }
    let answer = await exchange(
      server.port, isIPv6: isIPv6, message(to: server.name))
    await server.stop()
    return answer.map { String($0.prefix(12)) }
  }

  @Test func `A12: the system names the user of a client`() async throws {
    #expect(try await status(at: "127.0.0.1:0", users: [own]) == "HTTP/1.1 200")
    #expect(try await status(at: "127.0.0.1:0", users: [own + 1]) == "HTTP/1.1 403")
    #expect(try await status(at: "[::1]:0", users: [own], isIPv6: true) == "HTTP/1.1 200")
    #expect(try await status(at: "[::1]:0", users: [own + 1], isIPv6: true) == "HTTP/1.1 403")
  }

  @Test func `A12: a client that has closed its socket has no user`() async throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { _ = close(listener) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    #expect(bindDescriptor(listener, &address) == 0)
    #expect(listen(listener, 1) == 0)
    let client = try RawClient(try #require(port(of: listener)))
    let accepted = accept(listener, nil, nil)
    defer { _ = close(accepted) }
    #expect(PeerUser.user(ofClientOf: accepted) == own)
    // In the list of the system, a socket without a process belongs to root.
    client.send("GET / HTTP/1.1")
    client.close()
    #expect(PeerUser.user(ofClientOf: accepted) == nil)
  }

  private func port(of socket: Int32) -> UInt16? {
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = unsafe withUnsafeMutablePointer(to: &address) { address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe getsockname(socket, $0, &size)
      }
    }
    return code == 0 ? UInt16(bigEndian: address.sin_port) : nil
  }
}
