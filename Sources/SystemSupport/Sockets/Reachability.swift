/// Tests whether hosts accept connections. It blocks the calling thread.
package enum Reachability {
  /// An address of a host, with a port.
  package struct Address: Sendable {
    fileprivate let family: Int32
    fileprivate let kind: Int32
    fileprivate let rule: Int32
    /// A `sockaddr`.
    fileprivate let bytes: [UInt8]
  }

  /// The addresses of a host; empty if the host is unknown.
  package static func addresses(of host: String, port: UInt16) -> [Address] {
    var hints = unsafe addrinfo()
    unsafe hints.ai_family = AF_UNSPEC
    #if canImport(Glibc)
      unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    #else
      unsafe hints.ai_socktype = SOCK_STREAM
    #endif
    var list: UnsafeMutablePointer<addrinfo>?
    guard unsafe getaddrinfo(host, "\(port)", &hints, &list) == 0 else { return [] }
    defer { unsafe freeaddrinfo(list) }
    var addresses: [Address] = []
    var next = unsafe list
    while let info = unsafe next?.pointee {
      let bytes = unsafe UnsafeRawBufferPointer(start: info.ai_addr, count: Int(info.ai_addrlen))
      addresses.append(
        unsafe Address(
          family: info.ai_family, kind: info.ai_socktype, rule: info.ai_protocol,
          bytes: Array(bytes)))
      unsafe next = info.ai_next
    }
    return addresses
  }

  /// Whether one of the addresses accepts a connection. They are tried concurrently, so an address
  /// that never answers does not delay the others.
  package static func canConnect(
    toAnyOf addresses: [Address], within timeout: Duration
  ) -> Bool {
    let end = ContinuousClock.now + timeout
    var events: [pollfd] = []
    defer { for event in events { _ = close(event.fd) } }
    for address in addresses {
      let descriptor = socket(address.family, address.kind, address.rule)
      if descriptor < 0 { continue }
      events.append(pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0))
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      if address.begin(on: descriptor) { return true }
      if errno != EINPROGRESS { _ = close(events.removeLast().fd) }
    }
    while !events.isEmpty {
      let rest = (end - .now) / .milliseconds(1)
      guard rest > 0 else { return false }
      let time = Int32(min(rest.rounded(.up), 1_000_000))
      let count = nfds_t(events.count)
      if unsafe poll(&events, count, time) < 0, errno != EINTR { return false }
      let answered = events.filter { $0.revents != 0 }
      if answered.contains(where: { isConnected($0.fd) }) { return true }
      for event in answered { _ = close(event.fd) }
      events.removeAll { $0.revents != 0 }
    }
    return false
  }

  private static func isConnected(_ descriptor: Int32) -> Bool {
    var error: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    return unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0
  }
}

extension Reachability.Address {
  /// - Returns: Whether the connection is already made.
  fileprivate func begin(on descriptor: Int32) -> Bool {
    unsafe bytes.withUnsafeBytes { bytes in
      guard let address = unsafe bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else {
        return false
      }
      return unsafe connect(descriptor, address, socklen_t(bytes.count)) == 0
    }
  }
}
