import Foundation

/// A server whose backlog is full, so connections are neither accepted nor refused.
package final class FullServer: Sendable {
  package let port: UInt16
  private let sockets: [Int32]

  /// - Parameters:
  ///   - port: The port to listen on; 0 for a free one.
  ///   - host: The last byte of the address, 127.0.0.x.
  package init(at port: UInt16 = 0, host: UInt8 = 1) throws {
    let (server, port) = try LoopbackServer.listening(at: port, host: host, backlog: 0)
    self.port = port
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = (0x7F00_0000 + UInt32(host)).bigEndian
    #if canImport(Glibc)
      let kind = Int32(SOCK_STREAM.rawValue)
    #else
      let kind = SOCK_STREAM
    #endif
    // More connections than the backlog holds.
    let clients = (0..<8).map { _ in
      let client = socket(AF_INET, kind, 0)
      _ = fcntl(client, F_SETFL, O_NONBLOCK)
      _ = unsafe withUnsafePointer(to: address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
          unsafe connect(client, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      return client
    }
    sockets = clients + [server]
  }

  /// A server on a Unix socket.
  ///
  /// - Parameter path: The path of the socket, which must not exist.
  package init(atPath path: String) throws {
    port = 0
    let server = try LoopbackServer.listening(atPath: path, backlog: 0)
    let client = LoopbackServer.unixSocket()
    _ = try unsafe LoopbackServer.withAddress(ofPath: path) { unsafe connect(client, $0, $1) }
    sockets = [client, server]
  }

  deinit {
    for socket in sockets { _ = close(socket) }
  }
}
