public import CompositeOperations
public import Foundation

extension CocoaError: CancellationRepresenting {
  /// Whether somebody cancelled it: its code is `userCancelled`.
  public var representsCancellation: Bool { code == .userCancelled }
}

/// Errors that come from code of Objective-C, or of C, by domain and code alone.
extension NSError: CancellationRepresenting {
  /// Whether somebody cancelled it: it stands for `CocoaError.userCancelled` or for `URLError.cancelled`.
  public var representsCancellation: Bool {
    switch domain {
    case CocoaError.errorDomain: code == CocoaError.Code.userCancelled.rawValue
    case URLError.errorDomain: code == URLError.Code.cancelled.rawValue
    default: false
    }
  }
}
