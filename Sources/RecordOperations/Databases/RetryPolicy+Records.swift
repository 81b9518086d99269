public import CompositeOperations

extension RetryPolicy {
  /// The policy of requests to a database: five attempts, with delays of at most 1, 2, 4 and 8
  /// seconds, or as long as the database advises if that is longer.
  ///
  /// ```swift
  /// import CompositeOperations
  /// import RecordOperations
  ///
  /// let retries = RetryPolicy(attempts: 3, backoff: .constant(.seconds(2)))
  /// let query = QueryRecords("Book", in: MemoryRecordDatabase(), retries: retries)
  /// ```
  ///
  /// Whatever the policy, only a ``RecordError`` that is ``RecordError/isRetriable`` is retried, and
  /// a request that fails ends in the error of its last attempt.
  public static let databaseDefault = RetryPolicy(
    attempts: 5, backoff: .exponential(from: .seconds(1)).capped(at: .seconds(60)).jittered(),
    throwing: .lastAttempt)

  /// The policy, restricted to errors of requests that may be retried. Its final error is the error
  /// of the last attempt, because callers match `RecordError`.
  var forRequests: RetryPolicy {
    RetryPolicy(attempts: attempts, backoff: backoff, within: budget, throwing: .lastAttempt) {
      [isWorthwhile] error in
      (error as? RecordError)?.isRetriable == true && isWorthwhile(error)
    }
  }
}

/// Returns a request that only reads, with retries by a policy.
func readRequest<Reply: Sendable>(
  _ name: String, retries: RetryPolicy, _ send: @escaping @Sendable () async throws -> Reply
) -> some ComposableOperation<Reply> {
  SimpleOperation(send).named("request").retrying(retries.forRequests).named(name)
}
