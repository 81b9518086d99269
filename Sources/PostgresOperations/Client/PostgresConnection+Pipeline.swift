internal import CPostgres
internal import SystemSupport

/// A statement with its values.
struct PostgresRequest: Sendable {
  let statement: PostgresStatement
  let parameters: PostgresParameters

  init(_ statement: PostgresStatement, _ parameters: PostgresParameters) {
    self.statement = statement
    self.parameters = parameters
  }
}

/// Requests in pipeline mode: the statements are sent together, and the connection receives results
/// while it still sends.
///
/// The server executes the statements up to a synchronization point in one transaction.
extension PostgresConnection {
  typealias Result = Swift.Result<PostgresRows, PostgresError>

  /// The maximum number of prepared statements, which the server keeps in memory.
  private static let preparedLimit = 1_000

  /// A part of a pipeline, each with a result.
  private enum Step {
    case command(String)
    case preparation(PostgresStatement, name: String)
    /// The name is nil for a statement that is not prepared.
    case request(PostgresRequest, name: String?, index: Int)
    /// The end of a transaction.
    case synchronization

    var name: String {
      switch self {
      case .command(let sql): sql
      case .preparation(let statement, _): statement.name
      case .request(let request, _, _): request.statement.name
      case .synchronization: "commit"
      }
    }
  }

  private struct Answers {
    /// The results of the requests whose synchronization point was reached.
    var rows: [Int: Result] = [:]
    /// The rows of the requests that were executed, also of those before an error.
    var executed: [Int: PostgresRows] = [:]
    var refusedPreparations: [PostgresStatement: PostgresError] = [:]
    var firstRefusal: PostgresError?
    /// The tag of the last command.
    var tag = ""
  }

  /// Executes a command without values.
  ///
  /// - Returns: The tag of the answer, such as `COMMIT`.
  @discardableResult func command(_ sql: String) throws(PostgresError) -> String {
    let (answers, loss) = exchange([.command(sql), .synchronization])
    if let error = loss ?? answers.firstRefusal { throw error }
    return answers.tag
  }

  /// Executes statements in one transaction, or in the open one.
  ///
  /// - Returns: The rows of each.
  /// - Throws: A ``PostgresError``, if one of them is refused or if the connection is lost.
  func execute(_ requests: [PostgresRequest]) throws(PostgresError) -> [PostgresRows] {
    let (answers, loss) = exchange(steps(for: requests))
    if let error = loss ?? answers.firstRefusal { throw error }
    var rows: [PostgresRows] = []
    for index in requests.indices {
      guard let result = answers.rows[index] else { throw missing(requests[index]) }
      try rows.append(result.get())
    }
    return rows
  }

  /// Executes statements in one transaction, or in the open one, until one of them is refused.
  ///
  /// In an open transaction, the statements before a savepoint keep their effects after a rollback
  /// to it.
  ///
  /// - Returns: The rows of each statement before the refused one, and the refusal; nil if there is
  ///   none.
  /// - Throws: A ``PostgresError`` if the connection is lost.
  func executeUntilRefusal(
    _ requests: [PostgresRequest]
  ) throws(PostgresError) -> (rows: [PostgresRows], refusal: PostgresError?) {
    let (answers, loss) = exchange(steps(for: requests))
    if let loss { throw loss }
    var rows: [PostgresRows] = []
    for index in requests.indices {
      guard let found = answers.executed[index] else {
        guard let refusal = answers.firstRefusal else { throw missing(requests[index]) }
        return (rows, refusal)
      }
      rows.append(found)
    }
    return (rows, answers.firstRefusal)
  }

  private func missing(_ request: PostgresRequest) -> PostgresError {
    isBroken = true
    return .lost(request.statement.name, "the server has not sent a result")
  }

  private func steps(for requests: [PostgresRequest]) -> [Step] {
    var steps: [Step] = []
    if transactionState == .beginsWithNextStatement {
      steps.append(.command("BEGIN"))
      transactionState = .open
    }
    var names: [PostgresStatement: String] = [:]
    for (index, request) in requests.enumerated() {
      let statement = request.statement
      var name = preparedNames[statement] ?? names[statement]
      if name == nil {
        guard statement.isReused, preparedNames.count + names.count < Self.preparedLimit else {
          steps.append(.request(request, name: nil, index: index))
          continue
        }
        let newName = makeName()
        steps.append(.preparation(statement, name: newName))
        names[statement] = newName
        name = newName
      }
      steps.append(.request(request, name: name ?? "", index: index))
    }
    steps.append(.synchronization)
    return steps
  }

  /// Executes each statement in a transaction of its own.
  ///
  /// - Returns: The result of each. If the connection is lost, the statements without a result have
  ///   the error ``PostgresError/Kind/lost``.
  /// - Precondition: There is no open transaction.
  func executeEach(_ requests: [PostgresRequest]) -> [Result] {
    precondition(transactionState == .none, "statements in an open transaction are not separate")
    var refusals: [PostgresStatement: PostgresError] = [:]
    // Before the statements, because a refused preparation would otherwise fail later ones with an
    // error that hides the reason.
    let missing = Set(requests.map(\.statement)).filter { preparedNames[$0] == nil }
    if !missing.isEmpty {
      let (answers, loss) = exchange(
        missing.flatMap { [.preparation($0, name: makeName()), .synchronization] })
      if let loss { return requests.map { _ in .failure(loss.beforeRequest) } }
      refusals = answers.refusedPreparations
    }
    var steps: [Step] = []
    for (index, request) in requests.enumerated() {
      guard let name = preparedNames[request.statement] else { continue }
      steps += [.request(request, name: name, index: index), .synchronization]
    }
    let (answers, loss) = steps.isEmpty ? (Answers(), nil) : exchange(steps)
    return requests.enumerated().map { index, request in
      if let result = answers.rows[index] { return result }
      let error = refusals[request.statement] ?? loss
      if error == nil { isBroken = true }
      return .failure(
        error ?? .lost(request.statement.name, "the server has not sent a result"))
    }
  }

  private func makeName() -> String {
    nameCount += 1
    return "s\(nameCount)"
  }

  // MARK: Sending

  /// Sends steps and receives their results.
  ///
  /// - Returns: The results, and the error that has ended the connection, if one has.
  private func exchange(_ steps: [Step]) -> (Answers, PostgresError?) {
    var answers = Answers()
    do throws(PostgresError) {
      if isBroken {
        throw PostgresError(
          .notConnected, "\(steps[0].name): not sent, because the connection was lost before")
      }
      let sizes = steps.lazy.map { step in
        if case .request(let request, _, _) = step { request.parameters.bytes.count } else { 0 }
      }
      bufferedBytes = min(sizes.reduce(0, +), Self.largestBuffers)
      for step in steps where !send(step) { throw lost(step) }
      try receive(steps, into: &answers)
      return (answers, nil)
    } catch {
      isBroken = true
      return (answers, error)
    }
  }

  private func send(_ step: Step) -> Bool {
    switch step {
    case .command(let sql):
      unsafe PQsendQueryParams(handle, sql, 0, nil, nil, nil, nil, 0) == 1
    case .preparation(let statement, let name):
      unsafe PQsendPrepare(handle, name, statement.sql, 0, nil) == 1
    case .request(let request, let name, _):
      unsafe request.parameters.withPointers { values in
        let count = Int32(clamping: values.count)
        guard let name else {
          return unsafe PQsendQueryParams(
            handle, request.statement.sql, count, nil, values.baseAddress, nil, nil, 0) == 1
        }
        return unsafe PQsendQueryPrepared(
          handle, name, count, values.baseAddress, nil, nil, 0) == 1
      }
    case .synchronization: unsafe PQpipelineSync(handle) == 1
    }
  }

  // MARK: Receiving

  private enum Answer {
    case rows(PostgresRows, tag: String)
    case refused(PostgresError)
    /// Not executed because of an earlier error.
    case skipped
  }

  private func receive(_ steps: [Step], into answers: inout Answers) throws(PostgresError) {
    // Of the transaction, up to its synchronization point.
    var results: [Int: PostgresRows] = [:]
    var indices: [Int] = []
    var refusal: PostgresError?
    for step in steps {
      if case .synchronization = step {
        if let error = try receiveSynchronization() { refusal = refusal ?? error }
        for index in indices {
          if let refusal {
            answers.rows[index] = .failure(refusal)
          } else if let rows = results[index] {
            answers.rows[index] = .success(rows)
          }
        }
        answers.firstRefusal = answers.firstRefusal ?? refusal
        (results, indices, refusal) = ([:], [], nil)
        continue
      }
      let answer = try receive(step)
      if case .refused(let error) = answer { refusal = refusal ?? error }
      switch step {
      case .request(_, _, let index):
        indices.append(index)
        if case .rows(let rows, _) = answer {
          results[index] = rows
          answers.executed[index] = rows
        }
      case .preparation(let statement, let name):
        switch answer {
        // Stays prepared even if the transaction is rolled back.
        case .rows: preparedNames[statement] = name
        case .refused(let error): answers.refusedPreparations[statement] = error
        case .skipped: break
        }
      case .command: if case .rows(_, let tag) = answer { answers.tag = tag }
      case .synchronization: break
      }
    }
  }

  private func receive(_ step: Step) throws(PostgresError) -> Answer {
    // libpq separates the results of two steps by a null.
    var first = try unsafe nextResult(of: step)
    if unsafe first == nil { unsafe first = try nextResult(of: step) }
    guard let result = unsafe first else { throw unexpected(step) }
    defer { unsafe PQclear(result) }
    let answer: Answer
    switch unsafe PQresultStatus(result) {
    case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
      answer = unsafe .rows(
        PostgresRows(copying: result),
        tag: PQcmdStatus(result).map { unsafe String(cString: $0) } ?? "")
    case PGRES_FATAL_ERROR: answer = try unsafe .refused(refusal(result, of: step))
    case PGRES_PIPELINE_ABORTED: answer = .skipped
    default: throw unexpected(step)
    }
    guard let second = try unsafe nextResult(of: step) else { return answer }
    unsafe PQclear(second)
    throw unexpected(step)
  }

  /// - Returns: The error of the commit, if the server has refused it.
  private func receiveSynchronization() throws(PostgresError) -> PostgresError? {
    var error: PostgresError?
    // At most an error with the null after it, and the null of the step before.
    for _ in 0..<4 {
      guard let result = try unsafe nextResult(of: .synchronization) else { continue }
      defer { unsafe PQclear(result) }
      switch unsafe PQresultStatus(result) {
      case PGRES_PIPELINE_SYNC: return error
      case PGRES_FATAL_ERROR: error = try unsafe refusal(result, of: .synchronization)
      default: throw unexpected(.synchronization)
      }
    }
    throw unexpected(.synchronization)
  }

  /// - Throws: The error, if it has ended the connection.
  private func refusal(
    _ result: OpaquePointer, of step: Step
  ) throws(PostgresError) -> PostgresError {
    let error = unsafe PostgresError(result, of: step.name)
    if error.kind == .lost { throw error }
    // Another connection prepares it again.
    if error.isOutdatedStatement { isBroken = true }
    return error
  }

  /// Waits for a result. Sends meanwhile what could not be sent yet.
  ///
  /// Only a wait without any progress is limited. What was sent may be in buffers of the system and of proxies, where no
  /// progress can be seen. So one wait of a request also gets the time that a slow link needs for it.
  private func nextResult(of step: Step) throws(PostgresError) -> OpaquePointer? {
    while unsafe PQisBusy(handle) == 1 {
      let unsent = unsafe PQflush(handle)
      if unsent < 0 { throw lost(step) }
      let events = unsafe Self.wait(
        for: POLLIN | (unsent > 0 ? POLLOUT : 0), of: PQsocket(handle), within: timeout)
      if events == 0 {
        if unsent == 0, bufferedBytes > 0 {
          let time = Int64(bufferedBytes) * 1_000_000_000 / Self.slowLink
          bufferedBytes = 0
          if isReady(POLLIN, within: time) { continue }
        }
        canceller.cancelStatement()
        throw .lost(
          step.name, "no answer within \(Duration.nanoseconds(timeout).readable) from \(address)")
      }
      // At the end of the connection, a complete result may have been received.
      if events & ~POLLOUT != 0, unsafe PQconsumeInput(handle) == 0, unsafe PQisBusy(handle) == 1 {
        throw lost(step)
      }
    }
    return unsafe PQgetResult(handle)
  }

  /// The bytes in a second of a link that is still used.
  private static var slowLink: Int64 { 64 << 10 }
  /// The largest number of bytes that buffers on the way are expected to hold.
  private static var largestBuffers: Int { 16 << 20 }

  private func lost(_ step: Step) -> PostgresError {
    .lost(
      step.name,
      unsafe PQerrorMessage(handle).map { unsafe String(cString: $0) } ?? "no message")
  }

  private func unexpected(_ step: Step) -> PostgresError {
    .lost(step.name, "the server has sent an unexpected answer")
  }
}
