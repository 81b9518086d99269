internal import CPostgres
internal import Dispatch
internal import SystemSupport

/// A connection to a database. One thread at a time may use it, and that thread waits for the
/// server.
///
/// A request that the server does not answer within the timeout fails, and the connection is closed.
@safe package final class PostgresConnection {
  enum TransactionState { case none, beginsWithNextStatement, open }

  let handle: OpaquePointer
  let address: PostgresAddress
  let canceller: PostgresCanceller
  /// The maximum time without any progress, in nanoseconds.
  let timeout: Int64
  /// The names of the prepared statements on the server.
  var preparedNames: [PostgresStatement: String] = [:]
  /// The number of names given so far.
  var nameCount = 0
  var transactionState = TransactionState.none
  /// The number of bytes of the running request that buffers on the way to the server may hold.
  var bufferedBytes = 0
  /// Whether the connection was lost, or is in an unknown state.
  var isBroken = false

  /// Connects to a database.
  ///
  /// - Parameters:
  ///   - address: A connection string of libpq.
  ///   - timeout: The maximum duration of the attempt, and of a wait for the server later.
  /// - Throws: A ``PostgresError``.
  package convenience init(to address: String, timeout: Duration) throws(PostgresError) {
    try self.init(
      to: PostgresAddress(address), timeout: timeout,
      cancellations: DispatchQueue(label: "PostgreSQL cancellations"))
  }

  /// - Parameter cancellations: The queue on which requests are cancelled, which may block its
  ///   thread.
  init(
    to address: PostgresAddress, timeout: Duration, cancellations: DispatchQueue
  ) throws(PostgresError) {
    self.address = address
    self.timeout = timeout.inNanoseconds
    unsafe handle = try Self.connect(to: address, timeout: timeout)
    unsafe canceller = PostgresCanceller(of: handle, on: cancellations)
  }

  deinit {
    canceller.close()
    unsafe PQfinish(handle)
  }

  /// Whether the connection can take further requests, as far as this process knows.
  package var isUsable: Bool {
    unsafe !isBroken && transactionState == .none && PQstatus(handle) == CONNECTION_OK
  }

  /// Returns whether an idle connection is still open. Receives what the server has sent meanwhile.
  func isAlive() -> Bool {
    guard isUsable else { return false }
    // The last message before the end of a connection is followed by the end.
    for _ in 0..<8 {
      guard isReady(POLLIN, within: 0) else { return true }
      if unsafe PQconsumeInput(handle) == 0 { break }
      // It processes the input, such as a change of a setting.
      _ = unsafe PQisBusy(handle)
    }
    isBroken = true
    return false
  }

  // MARK: Statements

  /// Executes a statement, in its own transaction unless ``transaction(_:)`` is running.
  ///
  /// - Throws: A ``PostgresError``.
  package func rows(
    _ statement: PostgresStatement, _ values: [PostgresValue] = []
  ) throws(PostgresError) -> PostgresRows {
    try rows([(statement, values)])[0]
  }

  /// Executes statements together, with one wait for the server, in a transaction of their own unless
  /// ``transaction(_:)`` is running.
  ///
  /// - Returns: The rows of each.
  /// - Throws: A ``PostgresError``, also if one of them is refused.
  package func rows(
    _ statements: [(PostgresStatement, [PostgresValue])]
  ) throws(PostgresError) -> [PostgresRows] {
    try execute(requests(statements))
  }

  /// Executes statements together as ``rows(_:)`` does, until one of them is refused.
  ///
  /// - Returns: The rows of each statement before the refused one, and the refusal; nil if there is
  ///   none.
  /// - Throws: A ``PostgresError`` if the connection is lost, or if values cannot be sent.
  package func rowsUntilRefusal(
    _ statements: [(PostgresStatement, [PostgresValue])]
  ) throws(PostgresError) -> (rows: [PostgresRows], refusal: PostgresError?) {
    try executeUntilRefusal(requests(statements))
  }

  private func requests(
    _ statements: [(PostgresStatement, [PostgresValue])]
  ) throws(PostgresError) -> [PostgresRequest] {
    var requests: [PostgresRequest] = []
    for (statement, values) in statements {
      try requests.append(PostgresRequest(statement, PostgresParameters(values, of: statement)))
    }
    return requests
  }

  /// Executes statements in a transaction.
  ///
  /// The transaction begins with the first statement of the body. It is committed when the body
  /// returns, and rolled back if it throws.
  ///
  /// - Throws: The error of the body; a ``PostgresError``. After ``PostgresError/Kind/lost`` the
  ///   transaction may have been committed.
  package func transaction<Result>(_ body: () throws -> Result) throws -> Result {
    precondition(transactionState == .none, "a transaction is already open on this connection")
    transactionState = .beginsWithNextStatement
    let result: Result
    do { result = try body() } catch {
      let isOpen = transactionState == .open
      transactionState = .none
      // A connection that cannot roll back is closed, and the server rolls back.
      if isOpen, !isBroken, (try? command("ROLLBACK")) == nil { isBroken = true }
      throw error
    }
    let isOpen = transactionState == .open
    transactionState = .none
    if isOpen { try commit() }
    return result
  }

  private func commit() throws(PostgresError) {
    // After a failed statement, the server answers a COMMIT with a rollback, and without an error.
    if try command("COMMIT") != "COMMIT" {
      throw PostgresError(
        .refused, code: "25P02",
        "COMMIT: the transaction was rolled back, because one of its statements had failed")
    }
  }
}
