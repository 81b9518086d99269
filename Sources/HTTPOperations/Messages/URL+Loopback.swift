internal import Foundation

extension URL {
  /// Whether the host is this machine: `localhost`, an address in 127.0.0.0/8 or `::1`, in any form
  /// that libcurl takes for one of them, such as `127.1` or `localhost.`.
  var isLoopback: Bool {
    var host = (host ?? "").lowercased()
    if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
    if host.hasSuffix(".") { host.removeLast() }
    if host == "localhost" { return true }
    if host.contains(":") {
      var address = in6_addr()
      // Without its zone.
      guard unsafe inet_pton(AF_INET6, String(host.prefix { $0 != "%" }), &address) == 1 else {
        return false
      }
      return unsafe withUnsafeBytes(of: address) { bytes in
        unsafe bytes.elementsEqual(Array(repeating: 0, count: 15) + [1])
      }
    }
    var address = in_addr()
    // Unlike `inet_pton`, it reads short, octal and hexadecimal forms.
    guard unsafe inet_aton(host, &address) != 0 else { return false }
    return UInt32(bigEndian: address.s_addr) >> 24 == 127
  }
}
