internal import CompositeOperations
internal import Foundation

/// A socket in front of a server that can lose a reply: when the reply has arrived from the server, it
/// closes the connection, or passes on nothing else. So the server has executed the request, and the
/// client does not know.
package final class CuttingProxy: Sendable {
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  private struct State {
    /// After how many replies one is lost; nil for none.
    var countdown: Int?
    /// Whether the connection whose reply is lost stays open.
    var isSilent = false
    var replies = 0
  }

  private let state = Lock(State())
  private let listener: Int32
  private let folder: String
  private let path: String

  /// - Parameters:
  ///   - folder: The folder of the socket of the server.
  ///   - port: The number of the proxy's own socket.
  package init(in folder: String, port: Int = 5433) throws {
    self.folder = folder
    path = "\(folder)/.s.PGSQL.\(port)"
    unsafe unlink(path)
    listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    let isBound = unsafe Self.with(path) { unsafe bind(listener, $0, $1) }
    guard isBound == 0, listen(listener, 64) == 0 else {
      throw Failure(description: "\(path) cannot be used: errno \(errno)")
    }
    Thread.detachNewThread { [listener, weak self] in
      while true {
        let client = accept(listener, nil, nil)
        if client < 0 { return }
        guard let self else {
          _ = close(client)
          return
        }
        connect(client)
      }
    }
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
    unsafe unlink(path)
  }

  /// The number of replies so far.
  package var replies: Int { state.withLock { $0.replies } }

  /// Loses a reply after a number of others.
  ///
  /// - Parameter isSilent: Whether the connection stays open, and passes on no further reply.
  package func cut(after count: Int, isSilent: Bool = false) {
    state.withLock { ($0.countdown, $0.isSilent) = (count, isSilent) }
  }

  /// Loses no further reply.
  package func stopCutting() { state.withLock { $0.countdown = nil } }

  /// Whether the reply was lost.
  package var hasCut: Bool { state.withLock { $0.countdown == nil } }

  private func connect(_ client: Int32) {
    let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    let end = unsafe Self.with("\(folder)/.s.PGSQL.5432") {
      unsafe Foundation.connect(server, $0, $1)
    }
    if end != 0 {
      close(client)
      close(server)
      return
    }
    let done = DispatchGroup()
    for (source, target, isReply) in [(client, server, false), (server, client, true)] {
      done.enter()
      Thread.detachNewThread { [weak self] in
        Self.copy(source, target) { isReply ? self?.loss() : nil }
        shutdown(source, Int32(SHUT_RDWR))
        shutdown(target, Int32(SHUT_RDWR))
        done.leave()
      }
    }
    done.notify(queue: .global()) {
      close(client)
      close(server)
    }
  }

  private enum Loss { case closed, silent }

  /// - Returns: How the reply that has arrived is lost; nil if it is not.
  private func loss() -> Loss? {
    state.withLock { state in
      state.replies += 1
      guard let countdown = state.countdown else { return nil }
      state.countdown = countdown > 0 ? countdown - 1 : nil
      return countdown > 0 ? nil : state.isSilent ? .silent : .closed
    }
  }

  private static func copy(_ source: Int32, _ target: Int32, _ loss: () -> Loss?) {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    var isSilent = false
    while true {
      let count = unsafe bytes.withUnsafeMutableBytes {
        unsafe read(source, $0.baseAddress, $0.count)
      }
      if count <= 0 { return }
      if isSilent { continue }
      switch loss() {
      case .closed: return
      case .silent:
        isSilent = true
        continue
      case nil: break
      }
      var written = 0
      while written < count {
        let part = unsafe bytes.withUnsafeBytes {
          unsafe send(target, $0.baseAddress! + written, count - written, Int32(MSG_NOSIGNAL))
        }
        if part <= 0 { return }
        written += part
      }
    }
  }

  private static func with(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { bytes in
      unsafe bytes.copyBytes(from: Array(path.utf8) + [0])
    }
    return unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}
