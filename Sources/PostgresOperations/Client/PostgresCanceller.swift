internal import CPostgres
internal import CompositeOperations
internal import Dispatch
internal import SystemSupport

/// Ends the requests of a connection from any thread.
// Unchecked because of the pointer, whose content libpq only reads until the deinitializer frees it.
@safe final class PostgresCanceller: @unchecked Sendable {
  private let cancellation: OpaquePointer?
  private let queue: DispatchQueue
  /// The socket of the connection; nil after it was closed.
  private let socket: Lock<Int32?>

  /// - Parameter queue: Sends the cancellations. Its thread waits for the server, however long that
  ///   takes.
  init(of handle: OpaquePointer, on queue: DispatchQueue) {
    unsafe cancellation = PQgetCancel(handle)
    self.queue = queue
    socket = Lock(unsafe PQsocket(handle))
  }

  deinit { unsafe PQfreeCancel(cancellation) }

  /// Asks the server to cancel the statement that the connection executes. Does not wait.
  func cancelStatement() {
    queue.async { [self] in
      var message = [CChar](repeating: 0, count: 256)
      // If it fails, the server does not run any more, or ends the statement by itself.
      _ = unsafe PQcancel(cancellation, &message, Int32(message.count))
    }
  }

  /// Ends the connection and asks the server to cancel its statement. The thread that uses the
  /// connection detects the end at once.
  func interrupt() {
    // Under the lock, because the descriptor may have another meaning after it was closed.
    socket.withLock { if let socket = $0 { _ = shutdown(socket, Int32(SHUT_RDWR)) } }
    cancelStatement()
  }

  /// The connection is about to be closed.
  func close() { socket.withLock { $0 = nil } }
}
