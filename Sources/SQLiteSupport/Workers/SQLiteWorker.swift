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
  private let makeConnection: @Sendable () throws -> SQLiteConnection
  private let convertError: @Sendable (SQLiteError) -> any Error
  private var connection: SQLiteConnection?

  /// - Parameters:
  ///   - name: The name of the queue, for debuggers.
  ///   - convertError: Returns the error of a request that fails with a ``SQLiteError``, for callers
  ///     that do not know SQLite. The default is the same error.
  ///   - open: Opens the file.
  package init(
    _ name: String,
    convertingErrors convertError: @escaping @Sendable (SQLiteError) -> any Error = { $0 },
    open: @escaping @Sendable () throws -> SQLiteConnection
  ) {
    queue = DispatchQueue(label: name)
    self.convertError = convertError
    makeConnection = open
  }

  /// Runs a body with the connection, on its thread.
  ///
  /// If the task is cancelled, the running statement is interrupted, and every later one fails. A
  /// body that has not started never runs.
  ///
  /// - Throws: The error of the body or of opening the file, where a ``SQLiteError`` is converted;
  ///   `CancellationError`.
  package func run<Response: Sendable>(
    _ body: @escaping @Sendable (SQLiteConnection) throws -> Response
  ) async throws -> Response {
    let request = SQLiteRequest(convertingErrors: convertError, body)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { waiter in
        guard request.submit(waiter) else { return }
        queue.async { [self] in connection = request.run(on: connection, open: makeConnection) }
      }
    } onCancel: {
      request.cancel()
    }
  }

  /// Begins to open the file. If that fails, the next request tries again.
  package func open() {
    queue.async { [self] in if connection == nil { connection = try? makeConnection() } }
  }

  /// Runs a body with the connection, on its thread, even if the task is cancelled. Does not run it
  /// if the file is not open.
  package func runIfOpen(_ body: @escaping @Sendable (SQLiteConnection) -> Void) async {
    await withCheckedContinuation { waiter in
      queue.async { [self] in
        if let connection { body(connection) }
        waiter.resume()
      }
    }
  }

  /// Runs a body with the connection, on its thread, after the pending requests. Does not run it if
  /// the file is not open then. The caller does not wait for the body.
  package func runLaterIfOpen(_ body: @escaping @Sendable (SQLiteConnection) -> Void) {
    queue.async { [self] in if let connection { body(connection) } }
  }

  /// Closes the file after the pending requests. The next request opens it again.
  package func close() async {
    await withCheckedContinuation { waiter in
      queue.async { [self] in
        connection = nil
        waiter.resume()
      }
    }
  }
}
