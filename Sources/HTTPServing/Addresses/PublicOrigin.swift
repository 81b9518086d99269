internal import SystemSupport

/// The address under which browsers reach a server through a proxy: a scheme, a name, and perhaps a port.
package struct PublicOrigin: Sendable, Hashable, CustomStringConvertible {
  /// The scheme: `http` or `https`.
  let scheme: String
  /// The name of the proxy with its port, unless that is the default of the scheme.
  let host: String

  /// As a browser sends it in `Origin`.
  package var description: String { "\(scheme)://\(host)" }

  /// Reads an address such as `https://runs.example`, with at most a slash after it; nil for any other text.
  package init?(_ text: String) {
    let text = text.lowercased()
    let match = text.wholeMatch(
      of: /(?<scheme>https?):\/\/(?<name>[a-z0-9_-]+(\.[a-z0-9_-]+)*)(:(?<port>[0-9]{1,5}))?\/?/)
    guard let match, match.name.utf8.count <= 253 else { return nil }
    scheme = String(match.scheme)
    let standard = scheme == "https" ? 443 : 80
    guard let digits = match.port else {
      host = String(match.name)
      return
    }
    guard let port = UInt16(digits), port > 0 else { return nil }
    host = String(match.name) + (port == standard ? "" : ":\(port)")
  }
}
