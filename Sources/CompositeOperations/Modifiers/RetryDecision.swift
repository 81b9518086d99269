/// What follows on an attempt that failed.
public enum RetryDecision<Success: Sendable>: Sendable {
  /// No other attempt.
  case stop
  /// Another attempt, after a delay; at once if none is given, whatever the backoff says: that is
  /// ``FailedAttempt/delay``. An operation that is given with it is attempted in place of the first
  /// one, from then on.
  case retry(after: Duration = .zero, with: (any ComposableOperation<Success>)? = nil)
}

/// An attempt that failed, for those who decide what follows.
public struct FailedAttempt: Sendable {
  /// Which attempt it was, from 1.
  public let number: Int
  /// What it ended in.
  public let error: any Error
  /// How long to wait before the next one, if it goes by the backoff and by what the error advises.
  public let delay: Duration
}
