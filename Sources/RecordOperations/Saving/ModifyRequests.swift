internal import CompositeOperations

/// The requests that are needed for a list of changes: split by the limits of the database, retried
/// and, after a lost reply, checked.
struct ModifyRequests {
  let database: any RecordDatabase
  /// The changes, at most one for each record.
  let changes: [RecordChange]
  let isAtomic: Bool
  let ignoresMissing: Bool
  private let retries: RetryPolicy
  /// The time since the first request; nil without a budget.
  private var stopwatch: Stopwatch?
  var results: ChangeResults
  /// The error because of which a request failed as a whole and is not attempted again, and the
  /// indices of its changes; nil if there was none.
  private(set) var failure: (error: RecordError, changes: Set<Int>)?

  init(
    of changes: [RecordChange], atomically isAtomic: Bool, in database: any RecordDatabase,
    ignoringMissing ignoresMissing: Bool = false, retries: RetryPolicy
  ) {
    self.changes = changes
    self.isAtomic = isAtomic
    self.database = database
    self.ignoresMissing = ignoresMissing
    self.retries = retries.forRequests
    results = ChangeResults(of: changes, atomically: isAtomic)
  }

  /// Makes the requests.
  ///
  /// - Returns: The result of each change: saved or deleted.
  /// - Throws: A ``RecordBatchError`` if a change failed or the task was cancelled; a
  ///   ``RecordError`` if an atomic batch is not supported or exceeds the limits.
  nonisolated(nonsending) mutating func perform(
    in context: OperationContext
  ) async throws -> [RecordReply] {
    if isAtomic { try database.capabilities.require(.atomicBatches) }
    let chunks = database.limits.chunks(of: changes)
    if isAtomic, chunks.count > 1 { throw RecordError(.limitExceeded) }
    if retries.budget != nil { stopwatch = Stopwatch(context.clock) }
    var pending = Array(chunks.reversed())
    context.expectChildren(pending.count)
    do {
      while let chunk = pending.popLast() {
        try Task.checkCancellation()
        switch try await send(chunk, in: context) {
        case .finished: break
        case .tooLarge(let remaining):
          let middle = remaining.count / 2
          pending += [Array(remaining[middle...]), Array(remaining[..<middle])]
        case .stopped: pending = []
        }
      }
    } catch is CancellationError { throw results.error(cancelled: true) }
    guard let replies = results.ofSuccess else { throw results.error(cancelled: false) }
    return replies
  }

  private enum Completion {
    /// The result of each change is known.
    case finished
    /// The remaining changes have to be split.
    case tooLarge(remaining: [Int])
    /// Further requests would fail, too.
    case stopped
  }

  /// The state of the attempts to send changes.
  struct Attempt {
    /// The changes that are not known to be applied or to have finally failed.
    var remaining: [Int]
    /// The delays before the attempts after this one.
    var delays: Backoff.Delays
    var number = 1
    /// The delay before this attempt.
    var delay = Duration.zero
    /// Whether changes may have been applied without a reply, and no lookup has been made since.
    var needsLookup = false
    /// Whether a reply was lost in any attempt.
    var hasLostReply = false
    let request = Request()
  }

  /// The last request that was sent or is being delayed.
  final class Request: Sendable {
    /// Whether the request was sent and has no reply yet.
    let isInFlight = Lock(false)
  }

  /// Sends changes until their results are known or no attempts are left.
  ///
  /// The modifier `retrying` does not fit. An attempt sends only what the previous one left, after a
  /// lookup if a reply was lost, and a batch that fails in part is a reply, not an error. As attempts
  /// of a modifier, these would be closures over shared state. The policy and its delays are the
  /// same.
  private nonisolated(nonsending) mutating func send(
    _ chunk: [Int], in context: OperationContext
  ) async throws -> Completion {
    var attempt = Attempt(remaining: chunk, delays: Backoff.Delays(retries.backoff))
    var randomness = context.randomness
    while true {
      let advised: Duration?
      do {
        if attempt.needsLookup { try await settleApplied(&attempt, in: context) }
        if attempt.remaining.isEmpty { return .finished }
        advised = try await sendOnce(&attempt, in: context)
        if attempt.remaining.isEmpty { return .finished }
      } catch let error as CancellationError {
        // During the delay before an attempt, the results of the previous one are known.
        if attempt.request.isInFlight.withLock(\.self) {
          results.fail(attempt.remaining, with: RecordError(.replyLost))
        }
        throw error
      } catch {
        if let completion = failed(&attempt, with: error) { return completion }
        let advised = (error as? RecordError)?.retryDelay
        if schedule(&attempt, advised: advised, using: &randomness) { continue }
        return .stopped
      }
      if !schedule(&attempt, advised: advised, using: &randomness) { return .finished }
    }
  }

  /// Prepares another attempt after a failed one.
  ///
  /// - Returns: Whether the policy permits it.
  private func schedule(
    _ attempt: inout Attempt, advised: Duration?,
    using randomness: inout some RandomNumberGenerator
  ) -> Bool {
    guard attempt.number < retries.attempts else { return false }
    attempt.number += 1
    attempt.delay = max(advised ?? .zero, attempt.delays.delay(using: &randomness))
    guard let budget = retries.budget, let stopwatch else { return true }
    return stopwatch.elapsed + attempt.delay <= budget
  }

  /// An attempt has failed as a whole.
  ///
  /// - Returns: `nil` if it is to be retried.
  private mutating func failed(
    _ attempt: inout Attempt, with error: any Error
  ) -> Completion? {
    var problem = error as? RecordError ?? RecordError(.other(error))
    // The lookup failed, for any reason.
    if attempt.needsLookup { problem = RecordError(.replyLost, retryAfter: problem.retryDelay) }
    if case .limitExceeded = problem.reason, attempt.remaining.count > 1, !isAtomic {
      return .tooLarge(remaining: attempt.remaining)
    }
    results.fail(attempt.remaining, with: problem)
    if case .limitExceeded = problem.reason { return .finished }
    guard retries.isWorthwhile(problem) else {
      failure = (problem, Set(attempt.remaining))
      return .stopped
    }
    if case .replyLost = problem.reason {
      attempt.needsLookup = true
      attempt.hasLostReply = true
    }
    return nil
  }

  /// Sends the remaining changes once, and removes those that are settled.
  ///
  /// - Returns: The minimum delay before the next attempt; `nil` if the database does not say.
  private nonisolated(nonsending) mutating func sendOnce(
    _ attempt: inout Attempt, in context: OperationContext
  ) async throws -> Duration? {
    let batch = RecordBatch(attempt.remaining.map { changes[$0] }, isAtomic: isAtomic)
    let replies = try await replies(to: batch, attempt, in: context)
    var retried: [Int] = []
    var advised: Duration?
    for (index, reply) in zip(attempt.remaining, replies) {
      // An atomic batch was made as a whole or not at all, and a lookup has shown which.
      let hasLostReply = attempt.hasLostReply && !isAtomic
      results[index] = settled(reply, for: changes[index], hasLostReply: hasLostReply)
      // The reply as received: a change that was settled as `.replyLost` is not sent again.
      if case .failed(let error) = reply, retries.isWorthwhile(error) {
        retried.append(index)
        advised = [advised, error.retryDelay].compactMap(\.self).max()
        // The change may have been made.
        if case .replyLost = error.reason {
          attempt.needsLookup = true
          attempt.hasLostReply = true
        }
      }
    }
    if isAtomic, attempt.remaining.contains(where: results.hasFailed) {
      // Leave out deletions of missing records that count as done, and send the others again.
      if !attempt.remaining.allSatisfy(results.hasFailed) {
        attempt.delay = .zero
        try await leaveOutMissing(&attempt, in: context)
        return attempt.remaining.isEmpty ? nil : try await sendOnce(&attempt, in: context)
      }
      if !retried.isEmpty { return advised }
    }
    attempt.remaining = retried
    return advised
  }

  private nonisolated(nonsending) func replies(
    to batch: RecordBatch, _ attempt: Attempt, in context: OperationContext
  ) async throws -> [RecordReply] {
    let (database, request) = (database, attempt.request)
    let name = "modify \(RecordBatch.size(batch.changes.count))"
    request.isInFlight.withLock { $0 = false }
    let replies = try await context.request(name, after: attempt.delay) {
      request.isInFlight.withLock { $0 = true }
      return try await database.modify(batch)
    }
    request.isInFlight.withLock { $0 = false }
    guard replies.count == batch.changes.count else {
      throw RecordError(
        .invalid("the database returned \(replies.count) replies to \(batch.changes.count) changes")
      )
    }
    return replies
  }
}

extension OperationContext {
  /// Runs a request as a child operation, after a delay.
  nonisolated(nonsending) func request<Reply: Sendable>(
    _ name: String, after delay: Duration,
    _ send: nonisolated(nonsending) @escaping @Sendable () async throws -> Reply
  ) async throws -> Reply {
    let request = SimpleOperation(send).named(name)
    if delay == .zero { return try await run(request) }
    return try await run(request.delayed(by: delay))
  }
}

extension RecordLimits {
  /// Returns the indices of changes, in as many batches as the limits require.
  fileprivate func chunks(of changes: [RecordChange]) -> [[Int]] {
    var chunks: [[Int]] = []
    var chunk: [Int] = []
    var byteCount = 0
    for (index, change) in changes.enumerated() {
      let size = change.byteCount
      if !chunk.isEmpty, chunk.count == items || byteCount + size > bytes {
        chunks.append(chunk)
        (chunk, byteCount) = ([], 0)
      }
      chunk.append(index)
      byteCount += size
    }
    if !chunk.isEmpty { chunks.append(chunk) }
    return chunks
  }
}
