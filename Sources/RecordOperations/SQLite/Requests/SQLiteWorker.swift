internal import Dispatch

/// A connection with a thread for its requests, which run one after another.
///
/// The file is opened by the first of them, and again by the next one as long as that fails. It is closed when the
/// worker is gone and its line is empty.
///
/// It is `@unchecked Sendable` because of its connection, which nothing but a request on the serial queue gets at, and
/// the end of the worker, when no request is left.
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

  /// Gives the connection to a body, on its thread.
  ///
  /// A body whose task is cancelled has its statement interrupted, and each further one fails; one that waits for its
  /// turn never gets it.
  ///
  /// - Throws: What the body throws, a ``SQLiteError`` translated; a ``RecordError`` if the file cannot be opened;
  ///   `CancellationError`.
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

  /// Gives the connection to a body, on its thread, whether the task is cancelled or not; to none if the file is not
  /// open.
  func finish(_ body: @escaping @Sendable (SQLiteConnection) -> Void) async {
    await withCheckedContinuation { waiter in
      queue.async { [self] in
        if let connection { body(connection) }
        waiter.resume()
      }
    }
  }

  /// Closes the file when the requests are through that are in the line now.
  package func close() async {
    await withCheckedContinuation { waiter in
      queue.async { [self] in
        connection = nil
        waiter.resume()
      }
    }
  }
}
