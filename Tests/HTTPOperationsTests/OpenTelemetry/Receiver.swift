import CompositeOperations
import Foundation

/// A small server on this machine that handles one request at a time and sends given responses.
final class Receiver: Sendable {
  struct Request: Sendable {
    let head: String
    let body: Data
  }

  struct Response: Sendable {
    var status = 200
    var headers: [String] = []
    var body = "{}"
    /// Delays the response until it is released.
    var condition: HeldResponse?
  }

  private struct State: Sendable {
    var responses: [Response]
    var requests: [Request] = []
  }

  let url: URL
  private let socket: Int32
  private let state: Lock<State>

  /// - Parameter responses: The responses in order; the last one is repeated.
  init(_ responses: Response...) throws {
    state = Lock(State(responses: responses.isEmpty ? [Response()] : responses))
    let (socket, port) = try Self.listening()
    self.socket = socket
    guard let url = URL(string: "http://127.0.0.1:\(port)") else { throw SocketError() }
    self.url = url
    Thread.detachNewThread { [weak self] in
      // Ends when `deinit` shuts the socket down.
      while true {
        let connection = accept(socket)
        if connection < 0 { break }
        self?.serve(connection)
        _ = close(connection)
      }
      _ = close(socket)
    }
  }

  deinit { _ = shutdown(socket, Int32(SHUT_RDWR)) }

  var requests: [Request] { state.withLock { $0.requests } }

  /// Waits until a number of requests have been received.
  func waitForRequests(_ count: Int) async {
    while requests.count < count { await Task.yield() }
  }

  private func serve(_ connection: Int32) {
    guard let request = Self.request(from: connection) else { return }
    let response = state.withLock { state in
      state.requests.append(request)
      return state.responses.count > 1 ? state.responses.removeFirst() : state.responses[0]
    }
    response.condition?.wait()
    let head = ["HTTP/1.1 \(response.status) Status", "Connection: close"] + response.headers
    let text = (head + ["Content-Length: \(response.body.utf8.count)", "", response.body])
      .joined(separator: "\r\n")
    Self.write(Array(text.utf8), to: connection)
  }

  private static func request(from connection: Int32) -> Request? {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    let mark = Array("\r\n\r\n".utf8)
    while true {
      if let end = bytes.firstRange(of: mark)?.upperBound {
        let head = String(decoding: bytes[..<end], as: UTF8.self)
        let length = head.split(separator: "\r\n").compactMap { line in
          line.lowercased().hasPrefix("content-length:") ? Int(line.filter(\.isNumber)) : nil
        }.first
        if bytes.count >= end + (length ?? 0) {
          return Request(head: head, body: Data(bytes[end...]))
        }
      }
      let count = unsafe recv(connection, &chunk, chunk.count, 0)
      if count <= 0 { return nil }
      bytes += chunk[..<count]
    }
  }

  private static func write(_ bytes: [UInt8], to connection: Int32) {
    // The client may have closed the connection.
    #if os(Linux)
      _ = unsafe send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    #else
      _ = unsafe send(connection, bytes, bytes.count, 0)
    #endif
  }
}

/// Delays responses until it is released.
final class HeldResponse: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  func wait() {
    semaphore.wait()
    semaphore.signal()
  }

  func release() { semaphore.signal() }
}

struct SocketError: Error {}

extension Receiver {
  private static func listening() throws -> (socket: Int32, port: UInt16) {
    #if canImport(Glibc)
      let kind = Int32(SOCK_STREAM.rawValue)
    #else
      let kind = SOCK_STREAM
    #endif
    let socket = makeSocket(AF_INET, kind, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        unsafe bind(socket, pointer, length) == 0
          && getsockname(socket, pointer, &length) == 0
      }
    }
    guard isBound, listen(socket, 16) == 0 else { throw SocketError() }
    return (socket, UInt16(bigEndian: address.sin_port))
  }
}

// System functions whose names are shadowed in the class.
private func makeSocket(_ domain: Int32, _ kind: Int32, _ rule: Int32) -> Int32 {
  socket(domain, kind, rule)
}
private func accept(_ socket: Int32) -> Int32 { accept(socket, nil, nil) }
