/// How often, when and after which errors a failed operation is attempted again.
///
/// ```swift
/// let patient = RetryPolicy(
///   attempts: 5, backoff: .exponential(from: .seconds(1)).jittered(), within: .seconds(60))
/// let issues = FetchIssues(repository: repository).retrying(patient)
/// ```
public struct RetryPolicy: Sendable {
  /// The error of a run whose attempts have all failed.
  public enum FinalError: Sendable {
    /// A ``RetryError`` with the error of every attempt.
    case allAttempts
    /// The error of the last attempt itself. No caller receives the errors of earlier attempts. If
    /// one of them contains results, as the error of a composite can, these results are passed to
    /// the closure of ``ComposableOperation/discarding(_:)``.
    case lastAttempt
  }

  /// A single attempt, whose error is the error of the run.
  public static let none = RetryPolicy(attempts: 1, throwing: .lastAttempt)

  /// The maximum number of attempts, including the first one.
  public let attempts: Int
  /// The delays between attempts, measured by the clock of the ``OperationEnvironment``.
  public let backoff: Backoff
  /// The time from the start of the run within which an attempt may begin; nil for no limit.
  public let budget: Duration?
  /// The error of a run whose attempts have all failed.
  public let finalError: FinalError
  /// Returns whether to make another attempt after an error.
  public let isWorthwhile: @Sendable (any Error) -> Bool

  /// Creates a policy.
  ///
  /// - Parameters:
  ///   - attempts: The maximum number of attempts, including the first one.
  ///   - backoff: The delays between attempts, measured by the clock of the
  ///     ``OperationEnvironment``.
  ///   - budget: The time from the start of the run within which an attempt may begin; nil for no
  ///     limit.
  ///   - finalError: The error of a run whose attempts have all failed.
  ///   - isWorthwhile: Returns whether to make another attempt after an error.
  /// - Precondition: `attempts` is at least 1, and `budget` is not negative.
  public init(
    attempts: Int, backoff: Backoff = .none, within budget: Duration? = nil,
    throwing finalError: FinalError = .allAttempts,
    when isWorthwhile: @escaping @Sendable (any Error) -> Bool = { _ in true }
  ) {
    precondition(attempts >= 1, "`attempts` must be at least 1 (was \(attempts))")
    precondition(
      budget ?? .zero >= .zero, "`budget` must not be negative (was \(budget ?? .zero))")
    self.attempts = attempts
    self.backoff = backoff
    self.budget = budget
    self.finalError = finalError
    self.isWorthwhile = isWorthwhile
  }
}

/// The decision whether another attempt follows a failed one.
///
/// ```swift
/// let issues = FetchIssues(repository: repository).retrying(upTo: 3) { failure in
///   failure.error is NotFound ? .stop : .retry(after: failure.delay)
/// }
/// ```
public enum RetryDecision<Success: Sendable>: Sendable {
  /// Ends the run without another attempt.
  case stop
  /// Makes another attempt after a delay, by default zero.
  ///
  /// To wait as the backoff requires, pass ``FailedAttempt/delay`` as `after`. If an operation is
  /// passed as `with`, all following attempts run it instead of the original operation.
  case retry(after: Duration = .zero, with: (any ComposableOperation<Success>)? = nil)
}

/// A failed attempt, for the closure that decides whether another one follows.
public struct FailedAttempt: Sendable {
  /// The number of the attempt, from 1.
  public let number: Int
  /// The error of the attempt.
  public let error: any Error
  /// The delay that the backoff determines, or a longer one that a ``RetryAdvising`` error
  /// requests. It applies only if the closure passes it to ``RetryDecision/retry(after:with:)``.
  public let delay: Duration
  /// A random number from 0 to 1, from the random numbers of the ``OperationEnvironment``, if the error
  /// is ``RetryAdvising`` and requests a delay; 0 otherwise.
  package let jitter: Double
}
