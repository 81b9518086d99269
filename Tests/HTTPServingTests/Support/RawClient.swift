import CompositeOperations
import Foundation
import SystemSupport
import TestSupport

/// A client that sends any bytes. Its methods block, so they are called on a thread of their own.
final class RawClient: Sendable {
  private let descriptor: Int32
  private let isOpen = Lock(true)

  /// - Parameters:
  ///   - source: The last number of the own address 127.0.0.x; nil for the choice of the system.
  ///     Only Linux has others than 1.
  ///   - seconds: The timeout of a read, so that a test fails and does not hang.
  init(
    _ port: UInt16, isIPv6: Bool = false, from source: UInt32? = nil, seconds: Int = 100
  ) throws {
    descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { throw SystemError.last }
    var limit = timeval(tv_sec: seconds, tv_usec: 0)
    _ = unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    _ = unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    if let source {
      var own = sockaddr_in()
      own.sin_family = sa_family_t(AF_INET)
      own.sin_addr.s_addr = (UInt32(0x7F00_0000) | source).bigEndian
      guard bindDescriptor(descriptor, &own) == 0 else {
        let error = SystemError.last
        close()
        throw error
      }
    }
    let code: Int32
    if isIPv6 {
      var address = sockaddr_in6()
      address.sin6_family = sa_family_t(AF_INET6)
      address.sin6_port = port.bigEndian
      address.sin6_addr = in6addr_loopback
      code = connectDescriptor(descriptor, &address)
    } else {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      code = connectDescriptor(descriptor, &address)
    }
    guard code == 0 else {
      let error = SystemError.last
      close()
      throw error
    }
  }

  deinit { close() }

  func close() {
    let isFirst = isOpen.withLock { isOpen in
      defer { isOpen = false }
      return isOpen
    }
    if isFirst { _ = closeDescriptor(descriptor) }
  }

  /// Makes the connection end with a reset when it is closed.
  func reset() {
    var now = linger(l_onoff: 1, l_linger: 0)
    _ = unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
  }

  /// - Returns: False if the server has closed the connection.
  @discardableResult func send(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes {
        unsafe sendBytes(descriptor, $0.baseAddress, $0.count)
      }
      if count <= 0 { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  @discardableResult func send(_ text: String) -> Bool { send(Array(text.utf8)) }

  func endSending() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

  /// Reads a part; empty at the end, nil if nothing was received in time.
  func receive() -> [UInt8]? {
    var chunk = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe recv(descriptor, &chunk, chunk.count, 0)
    if count < 0, errno == EAGAIN { return nil }
    return Array(chunk.prefix(max(0, count)))
  }

  /// Whether the server closes the connection within a time, or has sent something.
  func isReadable(within milliseconds: Int32) -> Bool {
    var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&event, 1, milliseconds) > 0
  }

  /// Reads until the server closes the connection; nil if it does not in time.
  func receiveAll() -> String? {
    var bytes: [UInt8] = []
    while let part = receive() {
      if part.isEmpty { return String(decoding: bytes, as: UTF8.self) }
      bytes += part
    }
    return nil
  }

  /// Reads until a text was received; nil if it is not in time.
  func receive(until mark: String) -> String? {
    var text = ""
    while !text.contains(mark) {
      guard let part = receive(), !part.isEmpty else { return nil }
      text += String(decoding: part, as: UTF8.self)
    }
    return text
  }
}

private func closeDescriptor(_ descriptor: Int32) -> Int32 { close(descriptor) }
private func connectDescriptor<Address>(_ descriptor: Int32, _ address: inout Address) -> Int32 {
  unsafe withUnsafeBytes(of: &address) { bytes in
    unsafe connect(
      descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self),
      socklen_t(bytes.count))
  }
}
func bindDescriptor<Address>(_ descriptor: Int32, _ address: inout Address) -> Int32 {
  unsafe withUnsafeBytes(of: &address) { bytes in
    unsafe bind(
      descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self),
      socklen_t(bytes.count))
  }
}
private func sendBytes(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  unsafe send(descriptor, bytes, count, Int32(MSG_NOSIGNAL))
}

/// Sends a request on a connection of its own, and returns everything that the server sends.
func exchange(
  _ port: UInt16, isIPv6: Bool = false, from source: UInt32? = nil, _ request: String
) async -> String? {
  await onNewThread {
    guard let client = try? RawClient(port, isIPv6: isIPv6, from: source) else { return nil }
    client.send(request)
    return client.receiveAll()
  }
}

/// A request that closes its connection.
func message(
  _ line: String = "GET / HTTP/1.1", to address: String, _ fields: String..., body: String = ""
) -> String {
  ([line, "Host: \(address)", "Connection: close"] + fields).joined(separator: "\r\n")
    + "\r\n\r\n" + body
}

/// The status of the first response; 0 if there is none.
func status(of response: String?) -> Int? {
  guard let response else { return nil }
  guard response.hasPrefix("HTTP/1.") else { return 0 }
  return Int(response.split(separator: " ", maxSplits: 2).dropFirst().first ?? "")
}

/// The body of the only response.
func body(of response: String?) -> String? {
  guard let response, let end = response.range(of: "\r\n\r\n") else { return nil }
  return String(response[end.upperBound...])
}
