/// How long the phases of a request took until the head of its response arrived.
///
/// ```swift
/// import HTTPOperations
///
/// let times = HTTPDataOperation(url).map { response in
///   response.head.timings.map { $0.firstByte - $0.preTransfer }  // the time of the server
/// }
/// ```
///
/// The time in which the request waits because too many others of its host are running does not
/// count. Only on Linux.
public struct HTTPTimings: Sendable, Hashable {
  /// The time of the lookup of the host; zero on a connection that was used before.
  public let nameLookup: Duration
  /// The time of the connection, including that through a proxy; zero on a connection that was used
  /// before.
  public let connect: Duration
  /// The time of the handshake of TLS; zero without TLS, and on a connection that was used before.
  public let tls: Duration
  /// The time from the beginning until the request is sent.
  public let preTransfer: Duration
  /// The time from the beginning until the first byte of the response.
  public let firstByte: Duration
}
