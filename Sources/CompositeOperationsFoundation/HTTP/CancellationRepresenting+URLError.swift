public import CompositeOperations
public import Foundation

/// `URLError.cancelled` is how a `URLSession` says that its task was cancelled.
extension URLError: CancellationRepresenting {
  public var representsCancellation: Bool { code == .cancelled }
}
