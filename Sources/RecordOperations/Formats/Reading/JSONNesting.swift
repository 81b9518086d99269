/// How deep in brackets a place in JSON is. Which bracket it is that closes does not matter to it: who reads the object
/// finds that out.
struct JSONNesting {
  /// How deep it may become, in brackets.
  static let limit = 512

  private(set) var depth = 0
  private var isInString = false
  private var isEscaped = false

  /// Whether a comma or a closing bracket here would be of what is around it.
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
