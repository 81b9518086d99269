internal import CompositeOperations
internal import DurableOperations

/// The reads of single runs. Those that wait for a connection at the same time share a statement.
///
/// A parent reads each of its child flows when it waits for them, and again when one has changed.
final class RunReads: Sendable {
  /// The maximum number of runs that a statement reads.
  private static let limit = 500

  private struct Request: Sendable {
    let id: RunID
    let waiter: CheckedContinuation<AbsurdRun?, any Error>
  }

  private struct State: Sendable {
    private var waiting: [Request] = []
    private var isSubmitted = false

    /// - Returns: Whether a statement must be submitted, which takes the request.
    mutating func requested(_ request: Request) -> Bool {
      waiting.append(request)
      defer { isSubmitted = true }
      return !isSubmitted
    }

    /// A statement begins.
    ///
    /// - Returns: The requests that it answers, and whether another one must be submitted for the
    ///   others.
    mutating func began() -> (requests: [Request], isPartial: Bool) {
      let requests = Array(waiting.prefix(limit))
      waiting.removeFirst(requests.count)
      isSubmitted = !waiting.isEmpty
      return (requests, isSubmitted)
    }
  }

  private let statement: PostgresStatement
  private let pool: PostgresPool
  private let clock: ServerClock
  private let state = Lock(State())

  /// - Parameter statement: Reads the runs with some names ($1).
  init(by statement: PostgresStatement, in pool: PostgresPool, _ clock: ServerClock) {
    self.statement = statement
    self.pool = pool
    self.clock = clock
  }

  /// Reads a run, even if the task is cancelled.
  ///
  /// - Returns: The run as it is after the call of this function; nil if there is none.
  /// - Throws: A ``PostgresError``; the error of preparing the connection.
  func run(_ id: RunID) async throws -> AbsurdRun? {
    try await withCheckedThrowingContinuation { waiter in
      let request = Request(id: id, waiter: waiter)
      if state.withLock({ $0.requested(request) }) { submit() }
    }
  }

  private func submit() {
    let taken = Lock<[Request]?>(nil)
    pool.submit { [self] connection -> [RunID: AbsurdRun] in
      let requests = take()
      taken.withLock { $0 = requests }
      let names = Set(requests.map(\.id.text))
      let asked = ServerClock.MachineTime.now
      let runs = clock.runs(
        try connection.rows(statement, [.texts(Array(names))]), asked: asked)
      return Dictionary(runs.map { ($0.run.id, $0) }, uniquingKeysWith: { first, _ in first })
    } completion: { [self] result in
      // None are taken if no connection could be made.
      for request in taken.withLock(\.self) ?? take() {
        request.waiter.resume(with: result.map { $0[request.id] })
      }
    }
  }

  private func take() -> [Request] {
    let (requests, isPartial) = state.withLock { $0.began() }
    if isPartial { submit() }
    return requests
  }
}
