/// The limits of a server, which bound the memory and the time that its clients can use.
package struct ServerLimits: Sendable {
  /// The maximum size of the request line and the header, in bytes.
  package var headerSize = 16 << 10
  /// The maximum size of a body, in bytes.
  package var bodySize = 1 << 20
  /// The maximum number of bytes in the events of a stream that are not sent yet.
  package var eventSize = 256 << 10
  /// The maximum number of connections. Further ones wait in the queue of the system.
  package var connections = 500
  /// The maximum number of connections of one IP address. Further ones are closed at once. It is
  /// well below `connections`, so that one address cannot use up all.
  package var connectionsPerAddress = 100
  /// The time for the header of the first request of a connection, and for the body of each
  /// request.
  package var requestTime = Duration.seconds(10)
  /// The time between two requests of a connection. The header of the next request has this time
  /// and the `requestTime`.
  package var idleTime = Duration.seconds(30)
  /// The time for sending a response, and for each part of a file or of a stream of events.
  package var responseTime = Duration.seconds(60)
  /// The time between two comments on a stream without events, which find out whether the client
  /// has gone.
  package var heartbeatTime = Duration.seconds(15)
  /// The time in which a server that stops sends the remaining responses.
  package var closingTime = Duration.seconds(1)

  package init() {}
}
