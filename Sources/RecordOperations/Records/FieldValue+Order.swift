internal import SystemSupport

extension FieldValue {
  var text: String? {
    if case .string(let text) = self { text } else { nil }
  }

  /// The rank of the kind in the order of values of several kinds; `nil` for null. Integers and
  /// doubles have the same rank.
  private var rank: Int? {
    switch self {
    case .null: nil
    case .integer, .double: 0
    case .string: 1
    case .date: 2
    case .reference: 3
    case .list: 4
    case .bytes: 5
    }
  }

  /// Whether the value is less than another one of its kind; `nil` if the kinds differ or one value
  /// is null.
  func isLess(than other: FieldValue) -> Bool? {
    guard let rank, rank == other.rank else { return nil }
    return precedes(other)
  }

  /// Whether two values are equal in a query: 2 and 2.0 are.
  func isEquivalent(to other: FieldValue) -> Bool {
    if self == .null || other == .null { return self == other }
    return isLess(than: other) == false && other.isLess(than: self) == false
  }

  /// Whether the value sorts before another one of any kind. Null comes first.
  package func precedes(_ other: FieldValue) -> Bool {
    switch (self, other) {
    case (.integer(let one), .integer(let other)): one < other
    case (.double(let one), .double(let other)): one < other || !one.isNaN && other.isNaN
    case (.integer(let one), .double(let other)): one.compared(to: other) < 0
    case (.double(let one), .integer(let other)): other.compared(to: one) > 0
    case (.string(let one), .string(let other)): one.utf8.lexicographicallyPrecedes(other.utf8)
    case (.bytes(let one), .bytes(let other)): one.lexicographicallyPrecedes(other)
    case (.date(let one), .date(let other)): one < other
    case (.reference(let one), .reference(let other)): one.id.precedes(other.id)
    case (.list(let one), .list(let other)):
      one.lexicographicallyPrecedes(other) { $0.precedes($1) }
    default: (rank ?? -1) < (other.rank ?? -1)
    }
  }
}

extension Int64 {
  /// Returns a negative number if the integer is less than the double, and zero if they are equal.
  /// NaN comes last.
  fileprivate func compared(to other: Double) -> Int {
    if other.isNaN { return -1 }
    // 2 to the power of 63 is the smallest double above `Int64.max`.
    if other >= 9_223_372_036_854_775_808 { return -1 }
    if other < -9_223_372_036_854_775_808 { return 1 }
    let whole = Int64(other.rounded(.towardZero))
    if self != whole { return self < whole ? -1 : 1 }
    let fraction = other - Double(whole)
    return fraction > 0 ? -1 : (fraction < 0 ? 1 : 0)
  }
}

extension RecordID {
  /// Whether the ID sorts before another one: by zone, type and name, byte by byte.
  package func precedes(_ other: RecordID) -> Bool {
    if !zone.name.hasSameBytes(as: other.zone.name) {
      return zone.name.utf8.lexicographicallyPrecedes(other.zone.name.utf8)
    }
    if !type.hasSameBytes(as: other.type) {
      return type.utf8.lexicographicallyPrecedes(other.type.utf8)
    }
    return name.utf8.lexicographicallyPrecedes(other.name.utf8)
  }
}
