internal import Dispatch

/// A connection with a serial queue for its requests.
///
/// The first request opens the file. If that fails, the next request tries again. The file is
/// closed when the worker is deallocated, after its last request.
///
/// `@unchecked Sendable` because of the connection: only requests on the serial queue and the
/// deinitializer, after the last request, access it.
package final class SQLiteWorker: @unchecked Sendable {
  private let queue: DispatchQueue
  private let open: @Sendable () throws -> SQLiteConnection
  private var connection: SQLiteConnection?

  package init(
    _ name: String, open: @escaping @Sendable () throws -> SQLiteConnection
  ) {
    queue = DispatchQueue(label: name)
    self.open = open
  }

  /// Runs a body with the connection, on its thread.
  ///
  /// If the task is cancelled, the running statement is interrupted, and every later one fails. A
  /// body that has not started never runs.
  ///
  /// - Throws: The error of the body, where a ``SQLiteError`` becomes a ``RecordError``; a
  ///   ``RecordError`` if the file cannot be opened; `CancellationError`.
  package func run<Response: Sendable>(
    _ body: @escaping @Sendable (SQLiteConnection) throws -> Response
  ) async throws -> Response {
    let request = SQLiteRequest(body)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { waiter in
        guard request.submit(waiter) else { return }
        queue.async { [self] in connection = request.run(on: connection, open: open) }
      }
    } onCancel: {
      request.cancel()
    }
  }

  /// Runs a body with the connection, on its thread, even if the task is cancelled. Does not run it
  /// if the file is not open.
  func finish(_ body: @escaping @Sendable (SQLiteConnection) -> Void) async {
    await withCheckedContinuation { waiter in
      queue.async { [self] in
        if let connection { body(connection) }
        waiter.resume()
      }
    }
  }

  /// Closes the file after the pending requests.
  package func close() async {
    await withCheckedContinuation { waiter in
      queue.async { [self] in
        connection = nil
        waiter.resume()
      }
    }
  }
}
