/// A column that is compared with a value of one kind.
///
/// Values of different kinds are neither equal nor ordered, and a column may hold several kinds. So
/// each comparison covers only the rows where the column has that kind.
package struct SQLOperand<Value> {
  package typealias Term = (expression: String, value: Value)

  /// The compared pairs: the second decides if the first are equal, and so on.
  package var terms: [Term]
  /// A condition that the column has a value of that kind.
  package var condition: String
  /// Whether equality implies the condition.
  package var equalityImpliesCondition: Bool
  /// The terms for < and >, if they differ from ``terms``.
  package var orderTerms: [Term]?
  /// Whether ``terms`` are sufficient for equality.
  package var isSufficientForEquality = false

  package init(terms: [Term], condition: String, equalityImpliesCondition: Bool) {
    self.terms = terms
    self.condition = condition
    self.equalityImpliesCondition = equalityImpliesCondition
  }

  /// The terms for equality: those in ``orderTerms`` if there are no simpler ones.
  package var equalityTerms: [Term] {
    if let orderTerms, !isSufficientForEquality { return orderTerms }
    return terms
  }
}
