/// The error of an operation that failed at every attempt: what each attempt came to.
///
/// Its description is a line an attempt.
public struct RetryError: Error, Sendable {
  /// The error of every attempt, in order; at least one. If the last attempt was cancelled and has a
  /// late error, the late error is the last one.
  public var errors: [any Error] { storedErrors.value }
  private let storedErrors: StackSafe<[any Error]>

  /// Whether the run was cancelled between two attempts, or while one of them ran.
  public let representsCancellation: Bool

  var shares: [Shares] = []

  init(errors: [any Error], representsCancellation: Bool) {
    storedErrors = StackSafe(errors)
    self.representsCancellation = representsCancellation
  }
}

extension RetryError: CancellationRepresenting {}

extension RetryError: ValueCarrying {
  func discardOwnValues() {}
  var carriedErrors: [any Error] { errors }
}

extension RetryError: EvidenceDescribing {
  var branches: [ErrorBranch] {
    errors.enumerated().map { number, error in
      ErrorBranch(label: "attempt \(number + 1)", cause: .error(error))
    }
  }
}

/// An error that knows when it is worth trying again: a server that answers "try again after 30
/// seconds".
public protocol RetryAdvising: Error {
  /// How long to wait at least before the next attempt; nil if there is nothing to say.
  var retryDelay: Duration? { get }
}
