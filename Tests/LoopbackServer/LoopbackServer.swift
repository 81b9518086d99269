import CompositeOperations
package import Foundation

/// An HTTP server on the loopback interface that sends valid or invalid responses, as a test
/// specifies. Each connection has its own thread, and one request unless it is kept open.
package final class LoopbackServer: Sendable {
  package typealias Handler = @Sendable (LoopbackRequest, LoopbackConnection) -> Void

  private struct State: Sendable {
    var requests: [LoopbackRequest] = []
    var closedCount = 0
  }

  package let port: UInt16
  private let socket: Int32
  private let state = Lock(State())

  /// - Parameters:
  ///   - port: The port to listen on; 0 for a free one.
  ///   - readsBodies: Whether the body of a request is read before the handler is called.
  ///   - handler: Responds to a request, on a thread that may block. The connection is closed when
  ///     it returns, unless it has called ``LoopbackConnection/keepOpen()``.
  package convenience init(
    at port: UInt16 = 0, readingBodies readsBodies: Bool = true, _ handler: @escaping Handler
  ) throws {
    self.init(on: try Self.listening(at: port), readingBodies: readsBodies, handler)
  }

  /// A server on a Unix socket.
  ///
  /// - Parameters:
  ///   - path: The path of the socket, which must not exist.
  ///   - handler: Responds to a request.
  package convenience init(atPath path: String, _ handler: @escaping Handler) throws {
    self.init(on: (try Self.listening(atPath: path), 0), readingBodies: true, handler)
  }

  private init(
    on listener: (socket: Int32, port: UInt16), readingBodies readsBodies: Bool,
    _ handler: @escaping Handler
  ) {
    (socket, port) = listener
    Thread.detachNewThread { [weak self, socket] in
      // Ends when `deinit` shuts the socket down.
      while true {
        let descriptor = accept(socket)
        if descriptor < 0 {
          let error = errno
          if self == nil { break }
          // The client may have closed the connection already.
          precondition(
            [EINTR, ECONNABORTED].contains(error), "accept failed: errno \(error)")
          continue
        }
        let server = self
        Thread.detachNewThread {
          let connection = LoopbackConnection(descriptor)
          while let request = connection.request(withBody: readsBodies) {
            let number = server?.note(request) ?? 0
            handler(request.numbered(number), connection)
            if connection.sawClose { server?.noteClose() }
            if !connection.endsKeeping() { break }
          }
          connection.close()
        }
      }
      _ = close(socket)
    }
  }

  /// Sends one response per request, in order. The last response is repeated.
  package convenience init(at port: UInt16 = 0, _ responses: LoopbackResponse...) throws {
    try self.init(at: port) { request, connection in
      connection.send(responses[min(request.number, responses.count - 1)])
    }
  }

  deinit { _ = shutdown(socket, Int32(SHUT_RDWR)) }

  package func url(_ path: String = "/") -> URL {
    guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else {
      preconditionFailure("invalid path: \(path)")
    }
    return url
  }

  /// The requests that have been received, in order.
  package var requests: [LoopbackRequest] { state.withLock { $0.requests } }

  /// Waits until a number of requests have been received.
  package func waitForRequests(_ count: Int) async {
    while requests.count < count { await Task.yield() }
  }

  /// Waits until handlers have detected that clients closed a number of connections.
  package func waitForCloses(_ count: Int) async {
    while state.withLock({ $0.closedCount }) < count { await Task.yield() }
  }

  private func note(_ request: LoopbackRequest) -> Int {
    state.withLock { state in
      state.requests.append(request.numbered(state.requests.count))
      return state.requests.count - 1
    }
  }

  private func noteClose() { state.withLock { $0.closedCount += 1 } }
}

package struct SocketError: Error {}

extension LoopbackServer {
  /// Returns a port without a listener.
  ///
  /// A socket stays bound to the port until the process ends, so the system does not assign it
  /// again. On Linux, a socket with `SO_REUSEADDR` can still listen there.
  package static func unusedPort() throws -> UInt16 { try bound().port }

  /// - Parameter host: The last byte of the address, 127.0.0.x.
  static func listening(
    at port: UInt16 = 0, host: UInt8 = 1, backlog: Int32 = 64
  ) throws -> (socket: Int32, port: UInt16) {
    let bound = try bound(at: port, host: host)
    guard listen(bound.socket, backlog) == 0 else {
      _ = close(bound.socket)
      throw SocketError()
    }
    return bound
  }

  static func listening(atPath path: String, backlog: Int32 = 64) throws -> Int32 {
    let socket = unixSocket()
    let isBound = try unsafe withAddress(ofPath: path) { unsafe bind(socket, $0, $1) == 0 }
    if isBound, listen(socket, backlog) == 0 { return socket }
    _ = close(socket)
    throw SocketError()
  }

  static func unixSocket() -> Int32 {
    #if canImport(Glibc)
      makeSocket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    #else
      makeSocket(AF_UNIX, SOCK_STREAM, 0)
    #endif
  }

  static func withAddress<Value>(
    ofPath path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Value
  ) throws -> Value {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let isTooLong = unsafe withUnsafeMutableBytes(of: &address.sun_path) { bytes in
      if path.utf8.count >= bytes.count { return true }
      unsafe bytes.copyBytes(from: path.utf8)
      return false
    }
    if isTooLong { throw SocketError() }
    return unsafe withUnsafePointer(to: address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        unsafe body(pointer, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }

  private static func bound(
    at port: UInt16 = 0, host: UInt8 = 1
  ) throws -> (socket: Int32, port: UInt16) {
    #if canImport(Glibc)
      let kind = Int32(SOCK_STREAM.rawValue)
    #else
      let kind = SOCK_STREAM
    #endif
    let socket = makeSocket(AF_INET, kind, 0)
    var isReused: Int32 = 1
    unsafe setsockopt(
      socket, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = (0x7F00_0000 + UInt32(host)).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        unsafe bind(socket, pointer, length) == 0
          && getsockname(socket, pointer, &length) == 0
      }
    }
    guard isBound else {
      _ = close(socket)
      throw SocketError()
    }
    return (socket, UInt16(bigEndian: address.sin_port))
  }
}

// System functions whose names are shadowed in the class.
private func makeSocket(_ domain: Int32, _ kind: Int32, _ rule: Int32) -> Int32 {
  socket(domain, kind, rule)
}
private func accept(_ socket: Int32) -> Int32 { accept(socket, nil, nil) }
