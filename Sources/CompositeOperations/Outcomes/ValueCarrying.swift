/// An error that carries values which other operations ended with, as the evidence of a composite
/// does.
protocol ValueCarrying: Error {
  /// Gives up one share of the values, if several have the error.
  var disposalOfShare: Disposal? { get set }

  /// Hands every value to whoever wants to discard it.
  func discardValues()
}

extension Error {
  /// Gives up the values that the error carries, if it does, because nobody will see it.
  @usableFromInline func discardCarriedValues() {
    guard let carrying = self as? any ValueCarrying else { return }
    if let disposal = carrying.disposalOfShare { disposal() } else { carrying.discardValues() }
  }

  /// The same error for several who have it, of whom the last gives up the values that it carries.
  func shared(among count: Int) -> any Error {
    guard count > 1, var carrying = self as? any ValueCarrying else { return self }
    carrying.disposalOfShare = CompositeOperations.disposalOfShare(
      of: { discardCarriedValues() }, among: count)
    return carrying
  }
}
