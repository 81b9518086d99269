#if os(Linux)
  import Epoll
  import Foundation

  /// The server of the `http` shapes, in a process of its own: `Benchmarks http-server`.
  ///
  /// It answers `GET /small` with 100 bytes and `GET /large/N` with N bytes, and keeps the
  /// connections open. It holds `GET /wait` until it is released. One thread serves all
  /// connections, so that the clients have the other cores.
  ///
  /// It prints its port. A line `wait N` in its input is answered with `waiting` when N requests are
  /// held, and `release` answers these. It exits at the end of its input.
  final class HTTPServer {
    /// The size of a small body in bytes.
    static let smallSize = 100

    private static let small = answer(bodySize: smallSize) + body(smallSize)
    private static let chunk = body(1 << 20)

    private let listener: Int32
    private let poll: Int32
    private var connections: [Int32: HTTPServerConnection] = [:]
    /// The connections whose request is held.
    private var held: [HTTPServerConnection] = []
    /// How many held requests are reported.
    private var awaited: Int?
    private var commands: [UInt8] = []

    static func run() throws {
      OpenFiles.raiseLimit()
      signal(SIGPIPE, SIG_IGN)
      let server = try HTTPServer()
      try StandardOutput.write("\(try server.port)")
      try server.serve()
    }

    private init() throws {
      listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
      poll = epoll_create1(0)
      var address = Self.loopback
      let isBound = withUnsafeBytes(of: &address) { bytes in
        bytes.withMemoryRebound(to: sockaddr.self) {
          bind(listener, $0.baseAddress, socklen_t(bytes.count)) == 0
        }
      }
      guard isBound, listen(listener, 4_096) == 0, poll >= 0 else {
        throw BenchmarkError("the server cannot listen: \(String(cString: strerror(errno)))")
      }
      watch(listener, for: EPOLLIN.rawValue, EPOLL_CTL_ADD)
      watch(STDIN_FILENO, for: EPOLLIN.rawValue, EPOLL_CTL_ADD)
    }

    private static var loopback: sockaddr_in {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      return address
    }

    private var port: UInt16 {
      get throws {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isKnown = withUnsafeMutableBytes(of: &address) { bytes in
          bytes.withMemoryRebound(to: sockaddr.self) {
            getsockname(listener, $0.baseAddress, &size) == 0
          }
        }
        guard isKnown else { throw BenchmarkError("the server does not know its port") }
        return UInt16(bigEndian: address.sin_port)
      }
    }

    private func watch(_ file: Int32, for events: UInt32, _ change: Int32) {
      var event = epoll_event(events: events, data: epoll_data_t(fd: file))
      epoll_ctl(poll, change, file, &event)
    }

    private func serve() throws {
      var events = [epoll_event](repeating: epoll_event(), count: 256)
      while true {
        let count = epoll_wait(poll, &events, Int32(events.count), -1)
        for event in events.prefix(max(0, Int(count))) {
          switch event.data.fd {
          case listener: accept()
          case STDIN_FILENO: if try !readCommands() { return }
          case let file: if let connection = connections[file] { serve(connection) }
          }
        }
      }
    }

    private func accept() {
      while true {
        let file = Foundation.accept(listener, nil, nil)
        if file < 0 { return }
        _ = fcntl(file, F_SETFL, O_NONBLOCK)
        var isOn: Int32 = 1
        setsockopt(
          file, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
        connections[file] = HTTPServerConnection(file)
        watch(file, for: EPOLLIN.rawValue, EPOLL_CTL_ADD)
      }
    }

    // MARK: Connections

    private func serve(_ connection: HTTPServerConnection) {
      guard send(on: connection), connection.receive() else { return close(connection) }
      while connection.isIdle, let path = connection.nextPath() {
        guard answer(path, on: connection), send(on: connection) else { return close(connection) }
      }
    }

    /// - Returns: Whether the path is known.
    private func answer(_ path: Substring.UTF8View, on connection: HTTPServerConnection) -> Bool {
      if path.elementsEqual("/wait".utf8) {
        connection.isHeld = true
        held.append(connection)
        reportHeld()
      } else if path.starts(with: "/small".utf8) {
        connection.output = Self.small[...]
      } else if path.starts(with: "/large/".utf8),
        let size = Int(String(path.dropFirst("/large/".utf8.count)) ?? "")
      {
        connection.output = Self.answer(bodySize: size)[...]
        connection.bodySize = size
      } else {
        return false
      }
      return true
    }

    /// Sends what is possible without waiting, and watches for the rest.
    ///
    /// - Returns: Whether the connection still exists.
    private func send(on connection: HTTPServerConnection) -> Bool {
      guard let isComplete = connection.send(Self.chunk) else { return false }
      if isComplete == connection.isBlocked {
        connection.isBlocked = !isComplete
        let events = isComplete ? EPOLLIN.rawValue : EPOLLIN.rawValue | EPOLLOUT.rawValue
        watch(connection.file, for: events, EPOLL_CTL_MOD)
      }
      return true
    }

    private func close(_ connection: HTTPServerConnection) {
      connections[connection.file] = nil
      held.removeAll { $0 === connection }
      Foundation.close(connection.file)
      reportHeld()
    }

    private static func answer(bodySize: Int) -> [UInt8] {
      Array("HTTP/1.1 200 OK\r\nContent-Length: \(bodySize)\r\n\r\n".utf8)
    }

    private static func body(_ size: Int) -> [UInt8] { Array(repeating: 0x61, count: size) }

    // MARK: Commands

    /// - Returns: Whether the input continues.
    private func readCommands() throws -> Bool {
      var buffer = [UInt8](repeating: 0, count: 256)
      let count = read(STDIN_FILENO, &buffer, buffer.count)
      if count <= 0 { return false }
      commands += buffer[..<count]
      while let end = commands.firstIndex(of: UInt8(ascii: "\n")) {
        let command = String(decoding: commands[..<end], as: UTF8.self)
        commands.removeFirst(end + 1)
        if command == "release" { release() } else { awaited = Int(command.dropFirst(5)) }
        reportHeld()
      }
      return true
    }

    private func reportHeld() {
      guard awaited == held.count else { return }
      awaited = nil
      try? StandardOutput.write("waiting")
    }

    private func release() {
      for connection in held {
        connection.isHeld = false
        connection.output = Self.small[...]
        if !send(on: connection) { close(connection) }
      }
      held = []
    }
  }

  /// A connection of the server.
  final class HTTPServerConnection {
    let file: Int32
    /// Whether its request is held.
    var isHeld = false
    /// Whether the client must receive before more can be sent.
    var isBlocked = false
    /// The bytes to send before the rest of a body.
    var output: ArraySlice<UInt8> = []
    /// How many bytes of a large body follow.
    var bodySize = 0

    private var input: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: 4_096)

    var isIdle: Bool { !isHeld && output.isEmpty && bodySize == 0 }

    init(_ file: Int32) { self.file = file }

    /// - Returns: Whether the connection still exists.
    func receive() -> Bool {
      let count = read(file, &buffer, buffer.count)
      if count > 0 { input += buffer[..<count] }
      return count > 0 || count < 0 && errno == EAGAIN
    }

    /// Removes the first request from the input.
    ///
    /// - Returns: The path of the request; nil if it is not complete, and an empty path if it is not
    ///   a GET.
    func nextPath() -> Substring.UTF8View? {
      guard let end = endOfHead else { return nil }
      let line = String(decoding: input.prefix { $0 != 0x0D }, as: UTF8.self)
      input.removeFirst(end)
      let parts = line.split(separator: " ")
      return parts.count == 3 && parts[0] == "GET" ? parts[1].utf8 : "".utf8[...]
    }

    private var endOfHead: Int? {
      input.withUnsafeBytes { bytes in
        guard bytes.count >= 4 else { return nil }
        return (4...bytes.count).first { end in
          bytes[end - 1] == 0x0A && bytes[end - 2] == 0x0D && bytes[end - 3] == 0x0A
            && bytes[end - 4] == 0x0D
        }
      }
    }

    /// - Parameter chunk: Bytes of which a large body consists.
    /// - Returns: Whether everything is sent; nil if the connection is lost.
    func send(_ chunk: [UInt8]) -> Bool? {
      while !output.isEmpty || bodySize > 0 {
        let isBody = output.isEmpty
        let bytes = isBody ? chunk.prefix(bodySize) : output
        let count = bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        if count < 0 { return errno == EAGAIN ? false : nil }
        if isBody { bodySize -= count } else { output = output.dropFirst(count) }
      }
      return true
    }
  }
#endif
