internal import SystemSupport

extension FlowSyntaxError {
  /// The error with advice for the messages of libyaml that do not say what to do.
  func withAdvice(_ source: FlowSource) -> FlowSyntaxError {
    guard let location = problem.location,
      let advice = Self.advice(problem.message, source.byte(at: location))
    else { return self }
    return FlowSyntaxError(location, "\(problem.message); \(advice)")
  }

  private static func advice(_ message: String, _ byte: UInt8?) -> String? {
    if message.hasPrefix("found character that cannot start any token") {
      return byte == .tab
        ? "indent with spaces instead of tabs"
        : "put a text that begins with this character in quotes"
    }
    if message.hasPrefix("mapping values are not allowed in this context") {
      return "check the indentation, and put a text that contains ': ' in quotes"
    }
    if message.hasPrefix("found unknown escape character") {
      return "write a backslash as '\\\\', or put the text in single quotes"
    }
    return nil
  }
}

extension FlowSource {
  /// The byte at a location; nil at the end.
  fileprivate func byte(at location: FlowLocation) -> UInt8? {
    var line = 1
    var column = 1
    for byte in bytes {
      // Bytes in the middle of a character.
      if byte & 0b1100_0000 == 0b1000_0000 { continue }
      if line == location.line, column == location.column { return byte }
      column += 1
      if byte == .lineFeed {
        line += 1
        column = 1
      }
    }
    return nil
  }
}
