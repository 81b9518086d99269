internal import Foundation

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// Connects to hosts, and says whether that worked. It keeps its thread waiting.
enum Reachability {
  /// - Parameter timeout: How long to wait for all addresses of the host together. Looking them up comes on top.
  static func canConnect(to host: String, port: UInt16, within timeout: Duration) -> Bool {
    var hints = unsafe addrinfo()
    unsafe hints.ai_family = AF_UNSPEC
    #if canImport(Glibc)
      unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    #else
      unsafe hints.ai_socktype = SOCK_STREAM
    #endif
    var list: UnsafeMutablePointer<addrinfo>?
    guard unsafe getaddrinfo(host, "\(port)", &hints, &list) == 0 else { return false }
    defer { unsafe freeaddrinfo(list) }
    let end = ContinuousClock.now + timeout
    var next = unsafe list
    while let address = unsafe next {
      if unsafe connects(to: address.pointee, before: end) { return true }
      unsafe next = address.pointee.ai_next
    }
    return false
  }

  private static func connects(
    to address: addrinfo, before end: ContinuousClock.Instant
  ) -> Bool {
    let descriptor = unsafe socket(address.ai_family, address.ai_socktype, address.ai_protocol)
    guard descriptor >= 0 else { return false }
    defer { _ = close(descriptor) }
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    if unsafe connect(descriptor, address.ai_addr, address.ai_addrlen) == 0 { return true }
    guard errno == EINPROGRESS else { return false }
    var event = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    while true {
      let rest = (end - .now) / .milliseconds(1)
      guard rest > 0 else { return false }
      let count = unsafe poll(&event, 1, Int32(min(rest.rounded(.up), 1_000_000)))
      if count > 0 { break }
      if count < 0, errno != EINTR { return false }
    }
    var error: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    return unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0
  }
}
