import Foundation

/// The stream of events of a page, read from a socket.
final class EventStream: Sendable {
  private let socket: Int32

  struct Failure: Error { let code: Int32 }

  init(of page: PageFixture, _ path: String = "/events") throws {
    #if canImport(Glibc)
      let type = Int32(SOCK_STREAM.rawValue)
    #else
      let type = SOCK_STREAM
    #endif
    socket = Foundation.socket(AF_INET, type, 0)
    let port = UInt16(page.url.port ?? 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let connected = unsafe withUnsafePointer(to: &address) { address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        unsafe connect(socket, address, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    if connected != 0 { throw Failure(code: errno) }
    let request = "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n"
    let sent = unsafe Array(request.utf8).withUnsafeBytes { bytes in
      unsafe send(socket, bytes.baseAddress, bytes.count, 0)
    }
    if sent != request.utf8.count { throw Failure(code: errno) }
  }

  deinit { close(socket) }

  /// Waits for the next event of a change.
  ///
  /// - Throws: A ``Failure`` at the end of the stream.
  func change() async throws { if try await next() == nil { throw Failure(code: 0) } }

  /// Waits for the next event with a name.
  ///
  /// - Returns: Nil at the end of the stream.
  func next(_ name: String = "change") async throws -> String? {
    await withCheckedContinuation { continuation in
      let socket = socket
      Thread.detachNewThread {
        var (text, byte) = ("", UInt8(0))
        while unsafe recv(socket, &byte, 1, 0) == 1 {
          text.unicodeScalars.append(Unicode.Scalar(byte))
          if text.hasSuffix("\n\n"), text.contains("event: \(name)\n") {
            return continuation.resume(returning: text)
          }
        }
        continuation.resume(returning: nil)
      }
    }
  }
}
