internal import SystemSupport

/// The error of a server that cannot start.
package enum HTTPServingError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The text is no address with a port.
  case invalidAddress(String)
  /// The address can be reached from other hosts, and there is no token.
  case tokenRequired(ServerAddress)
  /// The token is too short to resist guessing.
  case shortToken(count: Int, minimum: Int)
  /// The system refuses the address, with this `errno`.
  case cannotListen(ServerAddress, code: Int32)
  /// The system refuses a thread or a descriptor, with this `errno`.
  case cannotStart(code: Int32)

  /// The failure, its reason, and advice.
  package var description: String {
    switch self {
    case .invalidAddress(let text):
      "invalid address: \(String(reflecting: text)); use an IP address and a port, such as "
        + "127.0.0.1:8080 or [::1]:8080, and port 0 for any free one"
    case .tokenRequired(let address):
      "\(address) can be reached from other hosts; use a token, or an address such as "
        + "127.0.0.1:\(address.port)"
    case .shortToken(let count, let minimum):
      "the token has \(count) bytes; use at least \(minimum) random ones"
    case .cannotListen(let address, let code):
      "cannot listen on \(address): \(SystemError(code: code)); \(Self.advice(code, address))"
    case .cannotStart(let code):
      "cannot start the server: \(SystemError(code: code)); close other files or programs first"
    }
  }

  private static func advice(_ code: Int32, _ address: ServerAddress) -> String {
    switch code {
    case EADDRINUSE:
      "another program uses the port: stop it, or use another port, or port 0 for any free one"
    case EACCES, EPERM: "use a port from 1024 to 65535, or port 0 for any free one"
    case EADDRNOTAVAIL, EAFNOSUPPORT:
      "the host has no such address: use one of its own, such as 127.0.0.1"
    case _ where SystemError(code: code).isTransient: "try again, or use another address"
    default: "use another address"
    }
  }
}
