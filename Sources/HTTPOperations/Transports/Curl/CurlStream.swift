#if !canImport(Darwin)
  internal import CCurl

  /// The stream of a request on a connection of HTTP/2, as the messages of libcurl report it.
  ///
  /// Its result codes are the same whether or not the server may have processed a request. The
  /// numbers of streams say it (RFC 9113, sections 6.8 and 8.7).
  struct CurlStream {
    let connection: CurlConnection
    /// The number of the stream; nil if libcurl has not named it.
    private var number: UInt32?
    /// Whether the server processes the request under no circumstances.
    private var isRefused = false
    /// Whether libcurl sends the request again. The messages may then be about another connection.
    private var hasEnded = false

    init(of connection: CurlConnection) { self.connection = connection }

    /// Whether the server guarantees that it has not processed the request and never will.
    var isUnprocessed: Bool { isRefused || number.map { $0 > connection.lastStream } == true }

    mutating func receive(_ news: composite_stream_news, _ number: UInt32) {
      if hasEnded { return }
      switch news {
      case composite_stream_opened:
        self.number = self.number ?? number
        // A client sends no request on a connection that takes no further ones.
        if connection.isClosing { isRefused = true }
      case composite_stream_limit: connection.close(after: number)
      case composite_stream_refused: isRefused = true
      case composite_stream_ended: hasEnded = true
      default: break
      }
    }
  }

  /// A connection that transfers use.
  final class CurlConnection {
    fileprivate let addresses: String
    fileprivate var userCount = 0
    /// The last stream that the server processes, or may have processed.
    private(set) var lastStream = UInt32.max
    /// Whether the server takes no further streams.
    private(set) var isClosing = false

    fileprivate init(_ addresses: String) { self.addresses = addresses }

    /// - Parameter stream: The last stream. A server may name a lower one later.
    fileprivate func close(after stream: UInt32) {
      lastStream = min(lastStream, stream)
      isClosing = true
    }
  }

  /// The connections that running transfers use, by the addresses of their ends.
  final class CurlConnections {
    private var connections: [String: CurlConnection] = [:]

    /// The connection with the addresses, until the transfer leaves it.
    ///
    /// - Parameter isNew: Whether it has just been made. Another one with the same addresses is
    ///   closed.
    func use(_ addresses: String, isNew: Bool) -> CurlConnection {
      let known = isNew ? nil : connections[addresses]
      let connection = known ?? CurlConnection(addresses)
      connections[addresses] = connection
      connection.userCount += 1
      return connection
    }

    func leave(_ connection: CurlConnection) {
      connection.userCount -= 1
      if connection.userCount > 0 || connections[connection.addresses] !== connection { return }
      connections[connection.addresses] = nil
    }
  }
#endif
