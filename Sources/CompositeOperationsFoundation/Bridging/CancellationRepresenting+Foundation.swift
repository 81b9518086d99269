public import CompositeOperations
public import Foundation

extension CocoaError: CancellationRepresenting {
  /// Whether the code is `userCancelled`.
  public var representsCancellation: Bool { code == .userCancelled }
}

/// For errors from Objective-C and C code, which have only a domain and a code.
extension NSError: CancellationRepresenting {
  /// Whether the error is `CocoaError.userCancelled` or `URLError.cancelled`.
  public var representsCancellation: Bool {
    switch domain {
    case CocoaError.errorDomain: code == CocoaError.Code.userCancelled.rawValue
    case URLError.errorDomain: code == URLError.Code.cancelled.rawValue
    default: false
    }
  }
}

/// A `URLSession` reports the cancellation of its task as `URLError.cancelled`.
extension URLError: CancellationRepresenting {
  /// Whether the code is `cancelled`.
  public var representsCancellation: Bool { code == .cancelled }
}
