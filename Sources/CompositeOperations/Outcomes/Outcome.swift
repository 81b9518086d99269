/// How a run ended: in exactly one of a result, an error and a cancellation.
///
/// ```swift
/// switch await fetch.run() {
/// case .result(let issues): show(issues)
/// case .error(let error): report(error)
/// case .cancelled: break
/// }
/// ```
///
/// Use ``get()`` to get the value with `try`.
public enum Outcome<Success> {
  /// The run ended with a value.
  case result(Success)
  /// The run failed.
  case error(any Error)
  /// The run was cancelled, or its body stopped early by throwing `CancellationError` or another
  /// error that represents a cancellation: see ``CancellationRepresenting``.
  case cancelled

  /// Creates the outcome that corresponds to a `Result`. A `CancellationError` becomes
  /// ``cancelled``. So does a ``CancellationRepresenting`` error that represents a cancellation,
  /// such as a ``Skipped``.
  public init(_ result: Result<Success, some Error>) {
    switch result {
    case .success(let value): self = .result(value)
    case .failure(let error): self = error.meansCancellation ? .cancelled : .error(error)
    }
  }

  /// The value, or nil if the run ended otherwise.
  @inlinable public var result: Success? {
    if case .result(let value) = self { value } else { nil }
  }

  /// The error, or nil if the run ended otherwise.
  @inlinable public var error: (any Error)? {
    if case .error(let error) = self { error } else { nil }
  }

  /// Whether the run ended in a cancellation.
  @inlinable public var isCancelled: Bool {
    if case .cancelled = self { true } else { false }
  }

  /// Returns the value of a result and throws otherwise.
  ///
  /// - Throws: The error of ``error(_:)``, and `CancellationError` for ``cancelled``.
  @inlinable public func get() throws -> Success {
    switch self {
    case .result(let value): return value
    case .error(let error): throw error
    case .cancelled: throw CancellationError()
    }
  }

  /// Returns the outcome with a transformed value. Errors and cancellations stay the same.
  ///
  /// - Parameter transform: Returns the new value, from the value of a result.
  /// - Throws: The error of `transform`.
  @inlinable public func map<Value>(_ transform: (Success) throws -> Value) rethrows
    -> Outcome<Value>
  {
    switch self {
    case .result(let value): .result(try transform(value))
    case .error(let error): .error(error)
    case .cancelled: .cancelled
    }
  }
}

extension Outcome: Sendable where Success: Sendable {}

extension Outcome: Equatable where Success: Equatable {
  /// Returns whether two runs ended the same way.
  ///
  /// Two results are equal if their values are equal. Errors of different types are not equal.
  /// Errors of one type are compared with `==` if the type is `Equatable`. Otherwise their debug
  /// descriptions are compared, which contain the values of all stored properties unless the type
  /// defines its own description.
  public static func == (left: Outcome, right: Outcome) -> Bool {
    switch (left, right) {
    case (.result(let left), .result(let right)): left == right
    case (.error(let left), .error(let right)): left.isEqual(to: right)
    case (.cancelled, .cancelled): true
    case (.result, _), (.error, _), (.cancelled, _): false
    }
  }
}

extension Error {
  fileprivate func isEqual(to other: any Error) -> Bool {
    guard type(of: self) == type(of: other) else { return false }
    if let equatable = self as? any Equatable { return equatable.isEqual(toValue: other) }
    return String(reflecting: self) == String(reflecting: other)
  }
}

extension Equatable {
  fileprivate func isEqual(toValue other: any Error) -> Bool { self == other as? Self }
}

/// An error that can represent a cancellation instead of a failure.
///
/// A body that throws such an error ends its run as ``Outcome/cancelled``, as if it had thrown
/// `CancellationError`:
///
/// ```swift
/// struct TransferError: CancellationRepresenting {
///   var code: Int
///   var representsCancellation: Bool { code == 42 }  // "interrupted by the user"
/// }
/// ```
public protocol CancellationRepresenting: Error {
  /// Whether this error represents a cancellation and not a failure.
  var representsCancellation: Bool { get }
}

extension Error {
  /// O4: whether a body that throws this error is cancelled and has not failed.
  @usableFromInline package var meansCancellation: Bool {
    self is CancellationError
      || (self as? any CancellationRepresenting)?.representsCancellation == true
  }
}
