/// A sequence that retries an operation while it fails, up to a number of attempts.
///
/// ```swift
/// let fetch = SequentialOperation(.retrying(FetchPage(url), attempts: 3))
/// ```
///
/// The first attempt counts, and each attempt is a run of its own. The first result is the result
/// of the composite. A cancellation ends the composite and is never retried. If all attempts fail,
/// the error contains the error of every attempt, in order.
public struct RetrySequence<Attempt: ComposableOperation>: LastStepSequence {
  public typealias Output = Attempt.Success

  private let attempt: Attempt
  private var left: Int

  /// Creates a sequence of attempts.
  ///
  /// - Parameters:
  ///   - attempt: The operation to retry.
  ///   - attempts: The maximum number of attempts, including the first one.
  /// - Precondition: `attempts` is at least 1.
  public init(_ attempt: Attempt, attempts: Int) {
    precondition(attempts >= 1, "`attempts` must be at least 1 (was \(attempts))")
    self.attempt = attempt
    left = attempts
  }

  public mutating func nextOperation(
    after previous: FinishedStep?
  ) -> (any ComposableOperation)? {
    if let previous, previous.error == nil { return nil }
    if left == 0 { return nil }
    left -= 1
    return attempt
  }
}

extension RetrySequence: StepsKnowing {
  var outline: OperationOutline { .start([attempt]) }
}

extension OperationSequence {
  /// Returns a sequence that retries an operation while it fails, up to a number of attempts.
  ///
  /// - Parameters:
  ///   - attempt: The operation to retry.
  ///   - attempts: The maximum number of attempts, including the first one.
  /// - Precondition: `attempts` is at least 1.
  public static func retrying<Attempt>(_ attempt: Attempt, attempts: Int) -> Self
  where Self == RetrySequence<Attempt> {
    RetrySequence(attempt, attempts: attempts)
  }
}
