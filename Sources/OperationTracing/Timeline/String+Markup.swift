extension String {
  /// The text, escaped for elements and quoted attributes of HTML and XML.
  ///
  /// Control characters, which XML does not allow, are replaced by visible symbols.
  var escapedForMarkup: String {
    var escaped = ""
    for scalar in unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&#39;"
      case "\t", "\n": escaped.unicodeScalars.append(scalar)
      case "\u{0}"..<" ":
        escaped.unicodeScalars.append(Unicode.Scalar(0x2400 + scalar.value) ?? "\u{fffd}")
      case "\u{7f}"..."\u{9f}", "\u{fffe}"..."\u{ffff}": escaped += "\u{fffd}"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
