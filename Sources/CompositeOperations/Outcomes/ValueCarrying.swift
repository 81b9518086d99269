/// An error that carries the values of other operations, such as the evidence of a composite.
protocol ValueCarrying: Error {
  /// The counts of the error's receivers, one for each time that it was shared. The last receiver
  /// discards the values.
  var shares: [Shares] { get set }

  /// Discards the values that the error itself carries.
  func discardOwnValues()

  /// The errors that it contains, which may carry values too.
  var carriedErrors: [any Error] { get }
}

extension Error {
  /// Discards the values that the error carries, for an error that reaches no outcome.
  @usableFromInline func discardCarriedValues() {
    guard let carrying = self as? any ValueCarrying else { return }
    // A loop: errors nest to any depth.
    var errors = [carrying]
    while let error = errors.popLast() {
      guard error.shares.reversed().allSatisfy({ $0.isLast() }) else { continue }
      error.discardOwnValues()
      errors += error.carriedErrors.reversed().compactMap { $0 as? any ValueCarrying }
    }
  }

  /// Returns the error for several receivers. The last one to discard it discards the carried
  /// values.
  func shared(among count: Int) -> any Error {
    guard count > 1, var carrying = self as? any ValueCarrying else { return self }
    carrying.shares.append(Shares(count))
    return carrying
  }
}
