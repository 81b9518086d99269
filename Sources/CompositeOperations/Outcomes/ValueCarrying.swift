/// An error that carries values which other operations ended with, as the evidence of a composite
/// does.
protocol ValueCarrying: Error {
  /// Hands every value to whoever wants to discard it, because nobody will see this error.
  func discardValues()
}

extension Error {
  /// Gives up the values that the error carries, if it does, because nobody will see it.
  @usableFromInline func discardCarriedValues() { (self as? any ValueCarrying)?.discardValues() }
}
