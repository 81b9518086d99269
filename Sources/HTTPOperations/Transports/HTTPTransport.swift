package import Foundation

/// A transport of HTTP messages: it sends requests and receives their responses, and does not
/// follow redirects.
///
/// It calls the methods of an exchange in the section "For transports", from one thread at a time.
package protocol HTTPTransport: AnyObject, Sendable {
  /// Whether the bodies of its responses are already decompressed.
  var decompressesBodies: Bool { get }

  /// Starts an exchange, asynchronously.
  func start(_ exchange: HTTPExchange)

  /// Reacts to a change by the user of an exchange: it accepts bytes again, has added bytes to the
  /// body of the request, or has cancelled.
  func update(_ exchange: HTTPExchange)
}

/// A request for a transport.
package struct HTTPTransportRequest: Sendable {
  /// A body of a request.
  package enum Body: Sendable {
    case none
    case bytes([UInt8])
    /// The bytes are added to the exchange while it runs. The count is nil if it is unknown. If
    /// they are those of a file, a transport may read it itself.
    case stream(byteCount: Int?, file: URL?)

    /// The number of bytes; nil if it is unknown.
    package var byteCount: Int? {
      switch self {
      case .none: 0
      case .bytes(let bytes): bytes.count
      case .stream(let byteCount, _): byteCount
      }
    }
  }

  package let url: URL
  package let method: String
  package let headers: HTTPHeaders
  package let body: Body
  /// The maximum time in which nothing is sent or received.
  package let timeout: Duration
  /// Whether the request must be sent on a new connection.
  package let needsNewConnection: Bool
  /// Whether the body of the response is probably large, so that the transport may use more memory
  /// to receive it.
  package let expectsLargeBody: Bool
  /// The path of the Unix socket that the request is sent to, whatever the host of its URL is.
  package let unixSocket: String?

  /// The identity of the host, for the limit of its connections. A Unix socket is one host.
  var host: String {
    unixSocket ?? "\(url.scheme ?? "")://\(url.host ?? ""):\(url.port ?? 0)".lowercased()
  }
}
