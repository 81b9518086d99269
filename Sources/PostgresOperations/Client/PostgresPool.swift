internal import CompositeOperations
internal import Dispatch

/// A pool of connections to a database. A connection is opened when it is needed, and again after it
/// was lost.
///
/// Each connection has a serial queue, so no thread of Swift's tasks waits for the server.
package final class PostgresPool: Sendable {
  private let lanes: [PostgresLane]
  private let machine: Lock<StateMachine>

  /// - Parameters:
  ///   - address: A connection string of libpq.
  ///   - capacity: The maximum number of connections.
  ///   - timeout: The maximum duration of a connection attempt, and of a wait for the server.
  ///   - prepare: Called for every new connection. If it throws, the connection is closed and the
  ///     request fails with its error.
  /// - Precondition: `capacity` is at least 1.
  package init(
    to address: String, capacity: Int = 4, timeout: Duration = .seconds(20),
    prepare: @escaping @Sendable (PostgresConnection) throws -> Void = { _ in }
  ) {
    precondition(capacity >= 1, "`capacity` must be at least 1 (was \(capacity))")
    let address = PostgresAddress(address)
    let cancellations = DispatchQueue(label: "PostgreSQL cancellations")
    lanes = (1...capacity).map { number in
      PostgresLane("PostgreSQL connection \(number)") {
        let connection = try PostgresConnection(
          to: address, timeout: timeout, cancellations: cancellations)
        do { try prepare(connection) } catch let error as PostgresError {
          throw error.beforeRequest
        }
        return connection
      }
    }
    machine = Lock(StateMachine(lanes))
  }

  /// Runs a body with a connection, even if the task is cancelled.
  ///
  /// - Throws: The error of the body; a ``PostgresError`` if no connection can be made.
  package func run<Response: Sendable>(
    _ body: @escaping @Sendable (PostgresConnection) throws -> Response
  ) async throws -> Response {
    try await withCheckedThrowingContinuation { waiter in
      submit(body) { waiter.resume(with: $0) }
    }
  }

  /// Runs a body with a connection, and passes its result to a completion handler, on a thread of
  /// the connection. The result is a ``PostgresError`` if no connection can be made.
  func submit<Response: Sendable>(
    _ body: @escaping @Sendable (PostgresConnection) throws -> Response,
    completion: @escaping @Sendable (Result<Response, any Error>) -> Void
  ) {
    submit { lane in
      let result = Result { try body(lane.connected()) }
      lane.finish()
      return { completion(result) }
    }
  }

  /// Runs a body with a connection. If the task is cancelled, this function throws at once, the
  /// statement is cancelled on the server, and the connection is closed.
  ///
  /// A body that was cancelled may have committed its writes. Use it to read.
  ///
  /// - Throws: The error of the body; a ``PostgresError`` if no connection can be made;
  ///   `CancellationError`.
  package func runCancellable<Response: Sendable>(
    _ body: @escaping @Sendable (PostgresConnection) throws -> Response
  ) async throws -> Response {
    let request = PostgresCancellableRequest<Response>()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { waiter in
        if request.submit(waiter) { submit { lane in request.run(on: lane, body) } }
      }
    } onCancel: {
      request.cancel()
    }
  }

  /// Executes a statement, even if the task is cancelled. Statements that wait for a connection at
  /// the same time share a transaction, and so the wait for the disk of the server.
  ///
  /// If the server refuses one of them, each is executed in a transaction of its own.
  ///
  /// - Parameter order: Decides the order within a transaction. Statements that lock the same rows
  ///   have the same text, or they lock the rows in the order of these texts; otherwise
  ///   transactions can deadlock, and are then repeated.
  /// - Throws: A ``PostgresError``; the error of preparing the connection.
  package func rows(
    _ statement: PostgresStatement, _ values: [PostgresValue], order: String
  ) async throws -> PostgresRows {
    let request = PostgresRequest(statement, try PostgresParameters(values, of: statement))
    return try await withCheckedThrowingContinuation { waiter in
      let write = PostgresWrite(request: request, order: order, waiter: waiter)
      guard let lane = machine.withLock({ $0.submitted(write) }) else { return }
      start(.writes([write]), on: lane)
    }
  }

  /// Closes the connections after the requests so far. A later request opens one again.
  package func close() async {
    for lane in lanes {
      await withCheckedContinuation { waiter in
        lane.async {
          lane.disconnect()
          waiter.resume()
        }
      }
    }
  }

  private func submit(_ job: @escaping Job) {
    guard let lane = machine.withLock({ $0.submitted(job) }) else { return }
    start(.job(job), on: lane)
  }

  private func start(_ work: Work, on lane: PostgresLane) {
    lane.async { [self] in
      var next: Work? = work
      while let work = next {
        let resume =
          switch work {
          case .job(let job): job(lane)
          case .writes(let writes): lane.execute(writes)
          }
        // Before it, so that the next request of a resumed task finds this lane idle.
        next = machine.withLock { $0.finished(lane) }
        resume()
      }
    }
  }
}
