/// The error of an operation that was retried, with the error of every attempt.
///
/// Its description has one line for each attempt.
public struct RetryError: Error, Sendable {
  /// The errors of all attempts, in order; at least one. If the last attempt threw an error after
  /// its cancellation (a late error), this error is the last element.
  public var errors: [any Error] { storedErrors.value }
  private let storedErrors: StackSafe<[any Error]>

  /// Whether a cancellation ended the attempts: the run of `retrying` was cancelled, or an attempt
  /// cancelled itself, for example by throwing `CancellationError`. The outcome of the run is then
  /// ``Outcome/cancelled``, and this error is its late outcome.
  public let representsCancellation: Bool

  var shares: [Shares] = []

  package init(errors: [any Error], representsCancellation: Bool) {
    storedErrors = StackSafe(errors)
    self.representsCancellation = representsCancellation
  }
}

extension RetryError: CancellationRepresenting {}

extension RetryError: RetryAdvising {
  /// The advice of the last error, for an outer `retrying`.
  public var retryDelay: Duration? {
    // A loop: errors nest to any depth.
    var last = errors.last
    while let inner = last as? RetryError { last = inner.errors.last }
    return (last as? any RetryAdvising)?.retryDelay
  }
}

extension RetryError: ValueCarrying {
  func discardOwnValues() {}
  var carriedErrors: [any Error] { errors }
}

extension RetryError: ErrorTreeDescribing {
  package var branches: [ErrorBranch] {
    errors.enumerated().map { number, error in
      ErrorBranch(label: "attempt \(number + 1)", cause: .error(error))
    }
  }
}

/// An error that advises when to retry, such as the answer "try again after 30 seconds" of a
/// server.
///
/// ```swift
/// struct ServerIsBusy: RetryAdvising {
///   let retryDelay: Duration?
/// }
/// ```
public protocol RetryAdvising: Error {
  /// The minimum delay before the next attempt; nil for no advice.
  var retryDelay: Duration? { get }
}
