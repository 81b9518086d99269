internal import SystemSupport

/// A socket that listens. Its owner closes it exactly once.
struct ListeningSocket: Sendable {
  let descriptor: Int32
  /// The address, with the port that the system has chosen if it was 0.
  let address: ServerAddress

  /// - Throws: `HTTPServingError.cannotListen`.
  init(_ address: ServerAddress) throws(HTTPServingError) {
    #if canImport(Glibc) || canImport(Musl)
      let kind = Int32(SOCK_STREAM.rawValue)
    #else
      let kind = SOCK_STREAM
    #endif
    let descriptor = socket(address.isIPv6 ? AF_INET6 : AF_INET, kind, 0)
    guard descriptor >= 0 else { throw .cannotListen(address, code: errno) }
    guard let port = Self.listen(descriptor, address) else {
      let code = errno
      _ = close(descriptor)
      throw .cannotListen(address, code: code)
    }
    self.descriptor = descriptor
    self.address = address.at(port)
  }

  /// Refuses connections from now on. The descriptor remains valid.
  func refuse() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// - Returns: The port; nil if a call failed, with its `errno`.
  private static func listen(_ descriptor: Int32, _ address: ServerAddress) -> UInt16? {
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    // Allows a port with recently closed connections, but not one with another listener.
    set(descriptor, SOL_SOCKET, SO_REUSEADDR)
    if address.isIPv6 {
      set(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY)
      var socketAddress = sockaddr_in6()
      socketAddress.sin6_family = sa_family_t(AF_INET6)
      socketAddress.sin6_port = address.port.bigEndian
      guard unsafe inet_pton(AF_INET6, address.host, &socketAddress.sin6_addr) == 1,
        listen(descriptor, &socketAddress)
      else { return nil }
      return UInt16(bigEndian: socketAddress.sin6_port)
    }
    var socketAddress = sockaddr_in()
    socketAddress.sin_family = sa_family_t(AF_INET)
    socketAddress.sin_port = address.port.bigEndian
    guard unsafe inet_pton(AF_INET, address.host, &socketAddress.sin_addr) == 1,
      listen(descriptor, &socketAddress)
    else { return nil }
    return UInt16(bigEndian: socketAddress.sin_port)
  }

  /// Binds the socket, and stores the address with its port.
  private static func listen<Address>(_ descriptor: Int32, _ address: inout Address) -> Bool {
    var size = socklen_t(MemoryLayout<Address>.size)
    return unsafe withUnsafeMutableBytes(of: &address) { bytes in
      guard let pointer = unsafe bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else {
        return false
      }
      return unsafe bind(descriptor, pointer, size) == 0 && systemListen(descriptor) == 0
        && getsockname(descriptor, pointer, &size) == 0
    }
  }

  private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32) {
    var isOn: Int32 = 1
    _ = unsafe setsockopt(
      descriptor, level, option, &isOn, socklen_t(MemoryLayout<Int32>.size))
  }
}

// The name is shadowed in the type.
private func systemListen(_ descriptor: Int32) -> Int32 { listen(descriptor, 1_024) }
