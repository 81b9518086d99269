public import CompositeOperations
public import Foundation

extension CocoaError: CancellationRepresenting {
  /// Whether somebody cancelled it: its code is `userCancelled`.
  public var representsCancellation: Bool { code == .userCancelled }
}
