/// A set of characters of a pattern, such as `[a-z_]`, `[!0-9]` or `[[:space:]]`.
struct GlobSet: Hashable, Sendable {
  private var isNegated = false
  private var ranges: [ClosedRange<Unicode.Scalar>] = []
  private var classes: [GlobClass] = []
  /// The name of the first class that does not exist; no character is in it.
  private(set) var unknownClass: String?

  /// The maximum length, which limits the time that brackets without an end take.
  private static let mostCharacters = 300

  /// Removes a set from the beginning of a pattern.
  ///
  /// - Returns: Nil if the bracket is not closed; nothing is removed.
  init?(removingFrom pattern: inout ArraySlice<GlobCharacter>) {
    var rest = pattern.prefix(Self.mostCharacters).dropFirst()
    if rest.first == .plain("!") || rest.first == .plain("^") {
      isNegated = true
      rest = rest.dropFirst()
    }
    var isFirst = true
    while let first = rest.first, isFirst || first != .plain("]") {
      isFirst = false
      rest = rest.dropFirst()
      if first == .plain("["), rest.first == .plain(":"), addClass(&rest) { continue }
      guard let lower = first.scalar else { continue }
      if rest.first == .plain("-"), let last = rest.dropFirst().first, last != .plain("]"),
        let upper = last.scalar
      {
        // A range that ends before it begins has no characters.
        if lower <= upper { ranges.append(lower...upper) }
        rest = rest.dropFirst(2)
      } else {
        ranges.append(lower...lower)
      }
    }
    if rest.isEmpty { return nil }
    pattern = pattern[(rest.startIndex + 1)...]
  }

  private mutating func addClass(_ rest: inout ArraySlice<GlobCharacter>) -> Bool {
    let name = rest.dropFirst().prefix { $0 != .plain(":") }
    guard rest.dropFirst(name.count + 1).starts(with: [.plain(":"), .plain("]")]) else {
      return false
    }
    rest = rest.dropFirst(name.count + 3)
    var text = ""
    text.unicodeScalars.append(contentsOf: name.compactMap(\.scalar))
    if let known = GlobClass(rawValue: text) {
      classes.append(known)
    } else {
      unknownClass = unknownClass ?? text
    }
    return true
  }

  func contains(_ scalar: Unicode.Scalar) -> Bool {
    let isMember =
      ranges.contains { $0.contains(scalar) } || classes.contains { $0.contains(scalar) }
    return isMember != isNegated
  }
}

/// A class of characters in a set. Characters outside of ASCII are letters or spaces as in Unicode.
private enum GlobClass: String {
  case alnum, alpha, ascii, blank, cntrl, digit, graph, lower, print, punct, space, upper, word
  case xdigit

  func contains(_ scalar: Unicode.Scalar) -> Bool {
    let properties = scalar.properties
    let isDigit = ("0"..."9").contains(scalar)
    let isControl = properties.generalCategory == .control
    return switch self {
    case .alnum: properties.isAlphabetic || isDigit
    case .alpha: properties.isAlphabetic
    case .ascii: scalar.isASCII
    case .blank: scalar == " " || scalar == "\t"
    case .cntrl: isControl
    case .digit: isDigit
    case .graph: !isControl && !properties.isWhitespace
    case .lower: properties.isLowercase
    case .print: !isControl
    case .punct:
      !isControl && !properties.isWhitespace && !properties.isAlphabetic && !isDigit
    case .space: properties.isWhitespace
    case .upper: properties.isUppercase
    case .word: properties.isAlphabetic || isDigit || scalar == "_"
    case .xdigit: scalar.isASCII && scalar.properties.isHexDigit
    }
  }
}

extension GlobCharacter {
  fileprivate var scalar: Unicode.Scalar? {
    switch self {
    case .plain(let scalar), .quoted(let scalar): scalar
    case .unknown: nil
    }
  }
}
