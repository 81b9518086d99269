public import CompositeOperations
public import Foundation

/// A `URLSession` reports the cancellation of its task as `URLError.cancelled`.
extension URLError: CancellationRepresenting {
  /// Whether the code is `cancelled`.
  public var representsCancellation: Bool { code == .cancelled }
}
