/// The error of an operation that would have waited for its permits for ever.
public struct PermitError: Error, Hashable, Sendable {
  /// Why they would never have come.
  public enum Reason: Hashable, Sendable {
    /// The operation runs inside one that holds them, and that one waits for its end.
    case heldAbove
    /// Whoever holds them waits, by way of others, for what is held above this operation.
    case circle
  }

  /// The names of the permits that the operation asked for.
  public let wanted: [String]
  /// The names of the permits that are held above it.
  public let held: [String]
  /// Why they would never have come.
  public let reason: Reason
}

extension PermitError: CustomStringConvertible {
  public var description: String {
    let wanted = wanted.joined(separator: ", ")
    return switch reason {
    case .heldAbove:
      "\(wanted) would never come: an operation that this one is part of holds too much of it"
    case .circle:
      "\(wanted) would never come: whoever holds it waits for \(held.joined(separator: ", ")), "
        + "which an operation that this one is part of holds; take both at once"
    }
  }
}
