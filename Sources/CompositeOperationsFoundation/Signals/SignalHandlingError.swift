public import Foundation

/// The error of a run that cannot handle signals, because the system denies a pipe.
public struct SignalHandlingError: Error, CustomStringConvertible {
  let reason: String

  /// The reason, and what to do.
  public var description: String {
    "signals cannot be handled: \(reason). Close files that are not needed, or raise the limit on "
      + "open files."
  }
}

extension SignalHandlingError: LocalizedError {
  public var errorDescription: String? { "\(self)" }
}
