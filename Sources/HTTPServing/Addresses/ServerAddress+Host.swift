internal import SystemSupport

extension ServerAddress {
  /// The address that a browser can open: this one, or an address of the host if the server listens
  /// on all of them. One that other hosts can reach comes first.
  package var reachable: ServerAddress {
    guard isWildcard else { return self }
    let own = Self.interfaceAddresses(areIPv6: isIPv6).first { !$0.isLoopback }
    let host = own?.host ?? (isIPv6 ? "::1" : "127.0.0.1")
    return ServerAddress(host: host, port: port, isIPv6: isIPv6)
  }

  /// The name of the host; nil if the system does not know it.
  package static var hostName: String? {
    var name = [CChar](repeating: 0, count: 256)
    guard unsafe gethostname(&name, name.count - 1) == 0 else { return nil }
    let bytes = name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
    return bytes.isEmpty ? nil : String(validating: bytes, as: UTF8.self)
  }

  /// The addresses of the interfaces that are up, with port 0. Those of one link only are omitted,
  /// because they need the name of an interface.
  private static func interfaceAddresses(areIPv6: Bool) -> [ServerAddress] {
    var first: UnsafeMutablePointer<ifaddrs>?
    guard unsafe getifaddrs(&first) == 0 else { return [] }
    defer { unsafe freeifaddrs(first) }
    var found: [ServerAddress] = []
    var next = unsafe first
    while let interface = unsafe next {
      unsafe next = unsafe interface.pointee.ifa_next
      guard let address = unsafe interface.pointee.ifa_addr,
        unsafe interface.pointee.ifa_flags & UInt32(IFF_UP) != 0,
        unsafe Int32(address.pointee.sa_family) == (areIPv6 ? AF_INET6 : AF_INET),
        let host = unsafe numericHost(of: address), !host.contains("%")
      else { continue }
      found.append(ServerAddress(host: host, port: 0, isIPv6: areIPv6))
    }
    return found
  }

  /// The address without the port, as text; nil if the system refuses it.
  static func numericHost(of address: UnsafePointer<sockaddr>) -> String? {
    let isIPv6 = unsafe Int32(address.pointee.sa_family) == AF_INET6
    let size = isIPv6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN) + 32)
    let code = unsafe getnameinfo(
      address, socklen_t(size), &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
    guard code == 0 else { return nil }
    return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
