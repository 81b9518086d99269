/// An expression by which rows are sorted, with null first.
package struct SQLOrderTerm: Sendable {
  package let expression: String
  package let isDescending: Bool

  package init(expression: String, isDescending: Bool) {
    self.expression = expression
    self.isDescending = isDescending
  }
}

extension SQLConditionWriter {
  /// Returns a condition for the rows after the one whose terms have these values.
  ///
  /// - Parameter terms: The terms of the order, the last of which are unique. The value nil is null.
  package mutating func isAfter(
    _ terms: ArraySlice<(term: SQLOrderTerm, value: Value?)>
  ) -> String {
    guard let (term, value) = terms.first else { return Self.constants.never }
    let place = value.map { bind($0) }
    let expression = term.expression
    let after =
      switch (term.isDescending, place) {
      case (false, nil): "\(expression) IS NOT NULL"
      case (false, let place?): "\(expression) > \(place)"
      case (true, nil): Self.constants.never
      case (true, let place?): "(\(expression) < \(place) OR \(expression) IS NULL)"
      }
    if terms.count == 1 { return after }
    let rest = isAfter(terms.dropFirst())
    let isSame = place.map { "\(expression) = \($0)" } ?? "\(expression) IS NULL"
    let all = "(\(after) OR \(isSame) AND (\(rest)))"
    // Redundant, but an index search can start there.
    if !term.isDescending, let place { return "(\(expression) >= \(place) AND \(all))" }
    return all
  }
}
