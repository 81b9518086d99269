/// An error that can represent a cancellation in the API that throws it.
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
  @usableFromInline var meansCancellation: Bool {
    self is CancellationError
      || (self as? any CancellationRepresenting)?.representsCancellation == true
  }
}
