/// Whether the owner of a run lives.
package enum OwnerState: Hashable, Sendable {
  case lives
  /// Its runs are running until another process takes them over.
  case hasEnded
  /// It counts as living. The text says why it cannot be judged.
  case unknown(String)
}
