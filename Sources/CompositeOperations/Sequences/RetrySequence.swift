/// The same operation again while it fails, for a number of attempts.
///
/// ```swift
/// let fetch = SequentialOperation(.retrying(FetchPage(url), attempts: 3))
/// ```
///
/// Attempts are counted with the first one. Each is a run of its own. The first result is the
/// composite's; a cancellation ends it and is never retried. When all attempts have failed, the
/// error holds every attempt's error in order.
public struct RetrySequence<Attempt: ComposableOperation>: LastStepSequence {
  public typealias Output = Attempt.Success

  private let attempt: Attempt
  private var left: Int

  /// - Precondition: There is at least one attempt.
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
  /// The same operation again while it fails, `attempts` times at most, the first one included.
  ///
  /// - Precondition: There is at least one attempt.
  public static func retrying<Attempt>(_ attempt: Attempt, attempts: Int) -> Self
  where Self == RetrySequence<Attempt> {
    RetrySequence(attempt, attempts: attempts)
  }
}
