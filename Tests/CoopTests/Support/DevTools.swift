import CompositeOperations
import Foundation

/// An error of a browser, or of a script in its page.
struct BrowserError: Error, CustomStringConvertible {
  let description: String
}

/// A connection to a browser by the DevTools protocol: JSON objects that end with a zero byte.
final class DevTools: Sendable {
  struct Event: Sendable {
    let method: String
    let message: Data

    var parameters: [String: Any] { DevTools.object(message)["params"] as? [String: Any] ?? [:] }
  }

  private struct State {
    var isClosed = false
    var lastID = 0
    var replies: [Int: CheckedContinuation<Data?, Never>] = [:]
    var events: [Event] = []
    var waiters: [(method: String, continuation: CheckedContinuation<Event?, Never>)] = []
  }

  private let socket: Int32
  private let state = Lock(State())

  /// Reads from a socket, on a new thread, until its other end is closed.
  init(_ socket: Int32) {
    self.socket = socket
    Thread.detachNewThread { self.read() }
  }

  deinit { close(socket) }

  /// A pair of connected sockets.
  static func sockets() throws -> (own: Int32, browser: Int32) {
    #if canImport(Glibc)
      let type = Int32(SOCK_STREAM.rawValue)
    #else
      let type = SOCK_STREAM
    #endif
    var sockets: [Int32] = [0, 0]
    guard unsafe socketpair(AF_UNIX, type, 0, &sockets) == 0 else {
      throw BrowserError(description: "no pair of sockets: errno \(errno)")
    }
    for socket in sockets { _ = fcntl(socket, F_SETFD, FD_CLOEXEC) }
    return (sockets[0], sockets[1])
  }

  static func object(_ message: Data) -> [String: Any] {
    (try? JSONSerialization.jsonObject(with: message)) as? [String: Any] ?? [:]
  }

  // MARK: Sending

  /// Sends a request, and waits for its reply.
  ///
  /// - Parameter session: The page that the request is for; nil for the browser.
  /// - Throws: `BrowserError`, if the browser refuses the request or ends.
  @discardableResult
  func send(
    _ method: String, _ parameters: [String: Any] = [:], to session: String? = nil
  ) async throws -> [String: Any] {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    var request: [String: Any] = ["id": id, "method": method, "params": parameters]
    request["sessionId"] = session
    let message = try JSONSerialization.data(withJSONObject: request) + [0]
    let reply = await withCheckedContinuation { continuation in
      let isClosed = state.withLock { state in
        if !state.isClosed { state.replies[id] = continuation }
        return state.isClosed
      }
      if isClosed { continuation.resume(returning: nil) } else { write(message) }
    }
    guard let reply else {
      throw BrowserError(description: "the browser has ended before its reply to \(method)")
    }
    let object = Self.object(reply)
    if let error = object["error"] as? [String: Any] {
      throw BrowserError(description: "\(method): \(error["message"] ?? error)")
    }
    return object["result"] as? [String: Any] ?? [:]
  }

  private func write(_ message: Data) {
    #if canImport(Glibc)
      let flags = Int32(MSG_NOSIGNAL)
    #else
      let flags: Int32 = 0
    #endif
    var rest = message[...]
    while !rest.isEmpty {
      let sent = unsafe rest.withUnsafeBytes { bytes in
        unsafe Foundation.send(socket, bytes.baseAddress, bytes.count, flags)
      }
      // The reader notices a closed connection.
      if sent <= 0 { return }
      rest = rest.dropFirst(sent)
    }
  }

  // MARK: Events

  /// The events up to now.
  var events: [Event] { state.withLock(\.events) }

  /// Waits for the first event of a method after others.
  ///
  /// - Parameter count: The number of events that came before.
  func event(_ method: String, after count: Int) async throws -> Event {
    let event: Event? = await withCheckedContinuation { continuation in
      let (known, isClosed) = state.withLock { state in
        let known = state.events.dropFirst(count).first { $0.method == method }
        if known == nil, !state.isClosed { state.waiters.append((method, continuation)) }
        return (known, state.isClosed)
      }
      if known != nil || isClosed { continuation.resume(returning: known) }
    }
    guard let event else {
      throw BrowserError(description: "the browser has ended before its event \(method)")
    }
    return event
  }

  // MARK: Reading

  private func read() {
    var rest = Data()
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe buffer.withUnsafeMutableBytes { bytes in
        unsafe recv(socket, bytes.baseAddress, bytes.count, 0)
      }
      if count <= 0 { break }
      rest += buffer[..<count]
      while let end = rest.firstIndex(of: 0) {
        receive(Data(rest[..<end]))
        rest = Data(rest[(end + 1)...])
      }
    }
    let (replies, waiters) = state.withLock { state in
      state.isClosed = true
      let waiting = (Array(state.replies.values), state.waiters.map(\.continuation))
      (state.replies, state.waiters) = ([:], [])
      return waiting
    }
    for reply in replies { reply.resume(returning: nil) }
    for waiter in waiters { waiter.resume(returning: nil) }
  }

  private func receive(_ message: Data) {
    let object = Self.object(message)
    if let id = object["id"] as? Int {
      state.withLock { $0.replies.removeValue(forKey: id) }?.resume(returning: message)
    } else if let method = object["method"] as? String {
      let event = Event(method: method, message: message)
      let waiters = state.withLock { state in
        state.events.append(event)
        let waiters = state.waiters.filter { $0.method == method }.map(\.continuation)
        state.waiters.removeAll { $0.method == method }
        return waiters
      }
      for waiter in waiters { waiter.resume(returning: event) }
    }
  }
}
