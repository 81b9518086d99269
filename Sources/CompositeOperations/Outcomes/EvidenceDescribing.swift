/// An error whose description holds those of other errors.
protocol EvidenceDescribing: Error, CustomStringConvertible {
  /// The description down to so many levels of errors within errors; at least one.
  func description(levels: Int) -> String
}

extension EvidenceDescribing {
  // Nobody reads on behind that, and thousands of levels would take the stack and the time of all of
  // them together.
  public var description: String { description(levels: 64) }
}

extension Error {
  /// The description of an error within another one.
  func description(belowLevels levels: Int) -> String {
    guard let evidence = self as? any EvidenceDescribing else { return "\(self)" }
    return levels > 1 ? evidence.description(levels: levels - 1) : "…"
  }
}
