/// The decision whether another attempt follows a failed one.
///
/// ```swift
/// let issues = FetchIssues(repository: repository).retrying(upTo: 3) { failure in
///   failure.error is NotFound ? .stop : .retry(after: failure.delay)
/// }
/// ```
public enum RetryDecision<Success: Sendable>: Sendable {
  /// No other attempt.
  case stop
  /// Another attempt after a delay, by default without one. The delay of the backoff is
  /// ``FailedAttempt/delay``. If there is an operation, it is attempted from now on instead of the
  /// first one.
  case retry(after: Duration = .zero, with: (any ComposableOperation<Success>)? = nil)
}

/// A failed attempt, for the closure that decides whether another one follows.
public struct FailedAttempt: Sendable {
  /// The number of the attempt, from 1.
  public let number: Int
  /// The error of the attempt.
  public let error: any Error
  /// How long to wait before the next attempt, by the backoff and the advice of the error.
  public let delay: Duration
}
