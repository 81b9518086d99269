internal import CMicrohttpd
internal import CompositeOperations
internal import SystemSupport

/// The server of libmicrohttpd: a thread that accepts connections, reads requests, and sends
/// responses.
///
/// The owner calls ``quiesce()`` and then ``stop()``, each once.
// Sendable, because the functions of libmicrohttpd that are used here may be called on any thread.
@safe struct HTTPDaemon: @unchecked Sendable {
  private let daemon: OpaquePointer
  private let socket: ListeningSocket
  /// Retained from the start to the stop, because the callbacks use it.
  private let server: Unmanaged<HTTPServer>

  /// Starts the thread.
  ///
  /// - Throws: `HTTPServingError.cannotStart`; the socket is then closed.
  init(_ server: HTTPServer, listeningOn socket: ListeningSocket) throws(HTTPServingError) {
    let retained = unsafe Unmanaged.passRetained(server)
    let limits = server.limits
    let daemon = unsafe composite_http_start(
      socket.descriptor, socket.address.isIPv6 ? 1 : 0, HTTPServer.callbacks,
      composite_http_limits(
        connections: UInt32(clamping: limits.connections),
        connections_per_address: UInt32(clamping: limits.connectionsPerAddress),
        // The header of a response needs the rest.
        memory: limits.headerSize + 8 << 10), retained.toOpaque())
    guard let daemon = unsafe daemon else {
      let code = errno
      unsafe retained.release()
      _ = close(socket.descriptor)
      throw .cannotStart(code: code)
    }
    unsafe self.daemon = unsafe daemon
    self.socket = socket
    unsafe self.server = unsafe retained
  }

  /// Accepts no more connections.
  func quiesce() {
    // The thread may still use the socket, so it is not closed before the stop.
    _ = unsafe MHD_quiesce_daemon(daemon)
    socket.refuse()
  }

  /// Closes all connections and ends the thread. No connection is suspended.
  func stop() async {
    await withCheckedContinuation { waiter in
      // Waits for the thread, so it must not occupy a thread of Swift's tasks.
      let stop: @Sendable () -> Void = {
        unsafe MHD_stop_daemon(daemon)
        _ = close(socket.descriptor)
        unsafe server.release()
        waiter.resume()
      }
      if SystemThread.start(named: "http-stop", stop) != 0 { stop() }
    }
  }
}
