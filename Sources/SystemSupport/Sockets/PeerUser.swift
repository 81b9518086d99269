/// The user of the process that has the other end of a TCP connection on this machine.
///
/// Linux lists the sockets with their users in `/proc/net/tcp` and `tcp6`. Other systems do not tell.
package enum PeerUser {
  /// Whether the system lists the sockets, and can tell this user from those that it cannot name.
  package static var isKnown: Bool {
    SystemUser.current != unnamed
      && lists.contains { (try? FileDescriptor.contents(ofFile: $0)) != nil }
  }

  /// The number of all users that are outside of the user namespace of this process, and of the user `nobody`.
  private static let unnamed: UInt32 = 65_534

  #if os(Linux)
    // A client with a socket of IPv6 can connect to an address of IPv4.
    private static let lists = ["/proc/net/tcp", "/proc/net/tcp6"]
  #else
    private static let lists: [String] = []
  #endif

  /// Returns the user of the client of a connection; nil if the client has closed its socket, is on another
  /// machine, or cannot be named.
  ///
  /// A socket that its process has closed belongs to root in the list. It is closed for good, so the second look
  /// shows it, also if the client closes it during the first one.
  ///
  /// - Parameter socket: The socket of the server.
  package static func user(ofClientOf socket: Int32) -> UInt32? {
    guard let own = Endpoint(own: socket), let client = Endpoint(peerOf: socket),
      let first = entry(from: client, to: own), let second = entry(from: client, to: own),
      first == second, first.inode != "0", first.user != unnamed
    else { return nil }
    return first.user
  }

  private struct Entry: Equatable {
    let user: UInt32
    let inode: Substring
  }

  private static func entry(from client: Endpoint, to server: Endpoint) -> Entry? {
    // The list is read in parts, and an entry can be missed while others disappear.
    for _ in 0..<3 {
      for list in lists {
        guard let bytes = try? FileDescriptor.contents(ofFile: list) else { continue }
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n").dropFirst() {
          let fields = line.split(separator: " ")
          guard fields.count > 9, client.names.contains(String(fields[1])),
            server.names.contains(String(fields[2])), let user = UInt32(fields[7])
          else { continue }
          return Entry(user: user, inode: fields[9])
        }
      }
    }
    return nil
  }
}

/// The address and the port of a socket, as the lists have them.
private struct Endpoint {
  /// As an address of its family, and one of IPv4 also as one of IPv6.
  let names: [String]

  init?(own socket: Int32) {
    unsafe self.init { unsafe getsockname(socket, $0, $1) }
  }

  init?(peerOf socket: Int32) {
    unsafe self.init { unsafe getpeername(socket, $0, $1) }
  }

  private init?(
    _ read: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
  ) {
    var address = sockaddr_in6()
    var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let code = unsafe withUnsafeMutablePointer(to: &address) { address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        unsafe read(address, &size)
      }
    }
    guard code == 0 else { return nil }
    // The port is at the same place in both families.
    let port = ":" + Self.hex(UInt32(UInt16(bigEndian: address.sin6_port)), digits: 4)
    switch Int32(address.sin6_family) {
    case AF_INET:
      // The address of IPv4 is at the place of the flow information.
      let host = Self.hex(address.sin6_flowinfo, digits: 8)
      let mapped = "0000000000000000" + Self.hex(UInt32(bigEndian: 0xFFFF), digits: 8)
      names = [host + port, mapped + host + port]
    case AF_INET6:
      let words = unsafe withUnsafeBytes(of: &address.sin6_addr) { bytes in
        (0..<4).map { unsafe bytes.loadUnaligned(fromByteOffset: $0 * 4, as: UInt32.self) }
      }
      names = [words.map { Self.hex($0, digits: 8) }.joined() + port]
    default: return nil
    }
  }

  /// As the lists have it: each word of 32 bits in the byte order of the machine.
  private static func hex(_ number: UInt32, digits: Int) -> String {
    let text = String(number, radix: 16, uppercase: true)
    return String(repeating: "0", count: digits - text.utf8.count) + text
  }
}
