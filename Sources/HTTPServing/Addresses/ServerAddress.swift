internal import SystemSupport

/// An IP address and a port that a server listens on.
package struct ServerAddress: Sendable, Hashable, CustomStringConvertible {
  /// The address in the standard form of the system, without brackets.
  package let host: String
  /// The port; 0 for any free one.
  package let port: UInt16
  let isIPv6: Bool

  /// Reads `host:port`, where the host is an IPv4 address, an IPv6 address in brackets, or
  /// "localhost" for 127.0.0.1. Other names are not resolved.
  ///
  /// - Throws: `HTTPServingError.invalidAddress`.
  package init(_ text: String) throws(HTTPServingError) {
    guard let colon = text.lastIndex(of: ":") else { throw .invalidAddress(text) }
    let digits = text[text.index(after: colon)...]
    let name = text[..<colon]
    guard let port = UInt16(digits), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let (host, isIPv6) = Self.standard(String(name))
    else { throw .invalidAddress(text) }
    (self.host, self.port, self.isIPv6) = (host, port, isIPv6)
  }

  init(host: String, port: UInt16, isIPv6: Bool) {
    (self.host, self.port, self.isIPv6) = (host, port, isIPv6)
  }

  /// The same host with another port.
  func at(_ port: UInt16) -> ServerAddress { ServerAddress(host: host, port: port, isIPv6: isIPv6) }

  /// Whether only programs on the same host can connect.
  package var isLoopback: Bool { isIPv6 ? host == "::1" : host.hasPrefix("127.") }

  /// Whether the server listens on every address of the host.
  package var isWildcard: Bool { host == (isIPv6 ? "::" : "0.0.0.0") }

  /// The host as it is written in URLs and in the field Host.
  package var hostInURL: String { isIPv6 ? "[\(host)]" : host }

  package var description: String { "\(hostInURL):\(port)" }

  /// Whether the text is an IPv4 address, or an IPv6 address in brackets.
  static func isAddress(_ text: String) -> Bool { standard(text) != nil && text != "localhost" }

  private static func standard(_ text: String) -> (host: String, isIPv6: Bool)? {
    if text.lowercased() == "localhost" { return ("127.0.0.1", false) }
    let isIPv6 = text.hasPrefix("[") && text.hasSuffix("]")
    let family = isIPv6 ? AF_INET6 : AF_INET
    var bytes = [UInt8](repeating: 0, count: 16)
    var standard = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    guard !text.utf8.contains(0),
      unsafe inet_pton(family, isIPv6 ? String(text.dropFirst().dropLast()) : text, &bytes) == 1,
      unsafe inet_ntop(family, bytes, &standard, socklen_t(standard.count)) != nil
    else { return nil }
    let host = standard.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
    return (String(decoding: host, as: UTF8.self), isIPv6)
  }
}
