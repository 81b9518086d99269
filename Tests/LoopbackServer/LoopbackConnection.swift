import Foundation

/// The server's end of a connection, used by the thread of its handler.
package final class LoopbackConnection {
  private let descriptor: Int32
  /// Whether the client was seen to close the connection.
  private(set) var sawClose = false
  private var isKept = false

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  func close() { closeDescriptor(descriptor) }

  /// Sends bytes unchanged.
  ///
  /// - Returns: False if the client has closed the connection.
  @discardableResult package func send(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      #if os(Linux)
        let flags = Int32(MSG_NOSIGNAL)
      #else
        let flags: Int32 = 0
      #endif
      let count = unsafe rest.withUnsafeBytes { unsafe sendBytes(descriptor, $0, flags) }
      if count <= 0 {
        sawClose = true
        return false
      }
      rest = rest.dropFirst(count)
    }
    return true
  }

  @discardableResult package func send(_ text: String) -> Bool { send(Array(text.utf8)) }

  /// Sends a response.
  package func send(_ response: LoopbackResponse) { send(response.bytes) }

  /// Blocks until the client has closed the connection.
  package func waitForClose() {
    var chunk = [UInt8](repeating: 0, count: 4_096)
    while unsafe recv(descriptor, &chunk, chunk.count, 0) > 0 {}
    sawClose = true
  }

  /// Blocks until bytes are received after the request; nil if the client has closed the connection.
  package func receive() -> [UInt8]? {
    var chunk = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe recv(descriptor, &chunk, chunk.count, 0)
    if count <= 0 {
      sawClose = true
      return nil
    }
    return Array(chunk[..<count])
  }

  /// Makes the connection end with a reset (RST) when it is closed.
  package func reset() {
    var now = linger(l_onoff: 1, l_linger: 0)
    unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
  }

  /// Makes the server read another request from the connection after this response.
  ///
  /// - Parameter milliseconds: The time to wait for it; nil for no limit.
  package func keepOpen(milliseconds: Int? = nil) {
    isKept = true
    guard let milliseconds else { return }
    var limit = timeval()
    limit.tv_usec = numericCast(milliseconds * 1_000)
    unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  /// Whether to read another request. The next response decides again.
  func endsKeeping() -> Bool {
    defer { isKept = false }
    return isKept && !sawClose
  }

  /// Reads a complete request; nil if the connection ends before.
  func request(withBody: Bool) -> LoopbackRequest? {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    let mark = Array("\r\n\r\n".utf8)
    while true {
      // The first byte of a TLS handshake.
      if bytes.first == 22 { return LoopbackRequest(head: "TLS", body: Data(bytes)) }
      // The version of SOCKS.
      if bytes.first == 5 { return LoopbackRequest(head: "SOCKS", body: Data(bytes)) }
      if let end = bytes.firstRange(of: mark)?.upperBound {
        let head = String(decoding: bytes[..<end], as: UTF8.self)
        let request = LoopbackRequest(head: head, body: Data(bytes[end...]))
        if withBody, request["Transfer-Encoding"] == "chunked" {
          if let body = Self.body(ofChunks: bytes[end...]) {
            return LoopbackRequest(head: head, body: body)
          }
        } else {
          let length = request["Content-Length"].flatMap { Int($0) } ?? 0
          if !withBody || bytes.count >= end + length { return request }
        }
      }
      let count = unsafe recv(descriptor, &chunk, chunk.count, 0)
      if count <= 0 { return nil }
      bytes += chunk[..<count]
    }
  }

  /// - Returns: Nil if the last chunk is missing.
  private static func body(ofChunks bytes: ArraySlice<UInt8>) -> Data? {
    var (rest, body) = (bytes, Data())
    while let end = rest.firstRange(of: [0x0D, 0x0A]) {
      let size = Int(String(decoding: rest[..<end.lowerBound], as: UTF8.self), radix: 16) ?? 0
      rest = rest[end.upperBound...]
      if rest.count < size + 2 { return nil }
      if size == 0 { return body }
      body += rest.prefix(size)
      rest = rest.dropFirst(size + 2)
    }
    return nil
  }
}

private func closeDescriptor(_ descriptor: Int32) { close(descriptor) }

private func sendBytes(
  _ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, _ flags: Int32
) -> Int {
  unsafe send(descriptor, bytes.baseAddress, bytes.count, flags)
}
