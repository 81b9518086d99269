/// An error that may mean "cancelled" in the API that it comes from.
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
  /// Whether this very error means that the work was cancelled rather than that it failed.
  var representsCancellation: Bool { get }
}

extension Error {
  /// O4: whether a body that throws this stopped early instead of failing.
  @usableFromInline var meansCancellation: Bool {
    self is CancellationError
      || (self as? any CancellationRepresenting)?.representsCancellation == true
  }
}
