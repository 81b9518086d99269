internal import SystemSupport

/// The nesting depth of a position in JSON. It counts brackets without matching them; the object
/// parser does that.
struct JSONNesting {
  /// The maximum depth, in brackets.
  static let limit = 512

  private(set) var depth = 0
  private var isInString = false
  private var isEscaped = false

  /// Whether a comma or a closing bracket at this position belongs to the enclosing array.
  var isOutside: Bool { depth == 0 && !isInString }

  mutating func pass(_ byte: UInt8) {
    if isEscaped {
      isEscaped = false
    } else if isInString {
      if byte == .quote { isInString = false } else if byte == .backslash { isEscaped = true }
    } else {
      switch byte {
      case .quote: isInString = true
      case .openingBrace, .openingBracket: depth += 1
      case .closingBrace, .closingBracket: depth = max(0, depth - 1)
      default: return
      }
    }
  }
}
