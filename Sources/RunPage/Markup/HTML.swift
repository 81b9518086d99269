import SystemSupport

/// Text of an HTML page. Interpolated values are escaped, so that the names, values and errors of
/// runs are never markup: `"<td title=\"\(attribute: flow)\">\(flow)</td>"`.
struct HTML: Sendable, ExpressibleByStringInterpolation {
  private(set) var text: String

  init(stringLiteral text: String) { self.text = text }

  init(stringInterpolation interpolation: StringInterpolation) { text = interpolation.text }

  static func + (one: HTML, other: HTML) -> HTML {
    var sum = one
    sum.text += other.text
    return sum
  }

  static func += (one: inout HTML, other: HTML) { one.text += other.text }

  struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    init(literalCapacity: Int, interpolationCount: Int) {
      text.reserveCapacity(literalCapacity + interpolationCount * 16)
    }

    mutating func appendLiteral(_ literal: String) { text += literal }

    mutating func appendInterpolation(_ html: HTML) { text += html.text }

    mutating func appendInterpolation(_ number: Int) { text += "\(number)" }

    /// Appends the beginning of a text that should be short, such as a name.
    mutating func appendInterpolation(short value: String, limit: Int = 300) {
      // Scalars, because a character can have any number of them.
      let beginning = value.unicodeScalars.prefix(limit + 1)
      if beginning.count <= limit { return appendInterpolation(value) }
      appendInterpolation(String(beginning.dropLast()) + "…")
    }

    /// Appends a text between tags. Characters that are invisible or change the direction of the
    /// text are shown by their numbers.
    mutating func appendInterpolation(_ value: String) {
      for scalar in value.unicodeScalars {
        if scalar.isHidden {
          text += "<span class=\"hidden\">\(scalar.number)</span>"
        } else {
          append(scalar)
        }
      }
    }

    /// Appends a text as ``appendInterpolation(_:)`` does, without tags: for the title of a
    /// page.
    mutating func appendInterpolation(title value: String) {
      for scalar in value.unicodeScalars {
        if scalar.isHidden { text += scalar.number } else { append(scalar) }
      }
    }

    /// Appends the value of an attribute in double quotes, as it is.
    mutating func appendInterpolation(attribute value: String) {
      for scalar in value.unicodeScalars {
        // A reference to one of the others up to U+009F is another character.
        if scalar.isHidden, scalar.value > 0x9F || (1..<0x20).contains(scalar.value) {
          text += "&#\(scalar.value);"
        } else {
          append(scalar)
        }
      }
    }

    private mutating func append(_ scalar: Unicode.Scalar) {
      switch scalar {
      case "&": text += "&amp;"
      case "<": text += "&lt;"
      case ">": text += "&gt;"
      case "\"": text += "&quot;"
      case "'": text += "&#39;"
      // The parser of a browser would replace it.
      case "\0": text += "\u{FFFD}"
      case "\r": text += "&#13;"
      default: text.unicodeScalars.append(scalar)
      }
    }
  }
}

extension Sequence<HTML> {
  func joined(by separator: HTML = "") -> HTML {
    var (all, isFirst) = (HTML(stringLiteral: ""), true)
    for part in self {
      if !isFirst { all += separator }
      all += part
      isFirst = false
    }
    return all
  }
}

extension Unicode.Scalar {
  /// The number of the character: `U+202E`.
  fileprivate var number: String {
    let digits = String(value, radix: 16, uppercase: true)
    return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }

  /// Whether a text should show the number of the character: it is a control character other than a
  /// tab and a line feed, or it has no width or changes the direction of the text.
  fileprivate var isHidden: Bool {
    switch value {
    case 0x9, 0xA: false
    case 0...0x1F, 0x7F...0x9F, 0xAD, 0x61C, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F,
      0xFEFF, 0xFFF9...0xFFFB, 0xFFFE...0xFFFF, 0xE0000...0xE007F:
      true
    default: false
    }
  }
}
