/// The problems that were found so far.
struct FlowProblems {
  private var found: Set<FlowProblem> = []
  private var omitted = 0
  private var suggestions = NameSuggestions()

  var isEmpty: Bool { found.isEmpty }
  var count: Int { found.count + omitted }

  /// Reports a problem. An alias can repeat a problem, which is reported once.
  mutating func report(_ location: FlowLocation?, _ message: @autoclosure () -> String) {
    if found.count < FlowLimits.problems {
      found.insert(FlowProblem(location, message()))
    } else {
      omitted += 1
    }
  }

  /// Returns the end of a message about an unknown name: the most similar known name, as a question.
  mutating func question(_ name: String, _ names: some Sequence<String>) -> String? {
    nearest(name, names).map { "did you mean \($0.quoted)?" }
  }

  /// Returns the known name that is most similar to an unknown name; nil if none is similar.
  mutating func nearest(_ name: String, _ names: some Sequence<String>) -> String? {
    found.count < FlowLimits.problems ? suggestions.nearest(name, names) : nil
  }

  /// The error with all problems; nil if there are none.
  func error(path: String) -> FlowFileError? {
    if found.isEmpty { return nil }
    var problems = found.sorted { one, other in
      switch (one.location, other.location) {
      case (let one?, let two?) where one != two: one < two
      case (nil, _?): true
      case (_?, nil): false
      case (nil, nil), (_?, _?): one.message < other.message
      }
    }
    if omitted > 0 {
      problems.append(FlowProblem(problems.last?.location, "and \(omitted) more problems"))
    }
    return FlowFileError(path: path, problems: problems)
  }
}

extension String {
  /// The text in quotes for messages: at most 80 characters, without control characters.
  var quoted: String {
    // Most names. It is also called for thousands of fields without a problem.
    if utf8.count <= 80, utf8.allSatisfy({ 0x20..<0x7F ~= $0 }) { return "'\(self)'" }
    var text = "'"
    var count = 0
    for scalar in unicodeScalars {
      if count == 80 {
        text += "…"
        break
      }
      count += 1
      switch scalar {
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case "\u{0}"..<" ", "\u{7f}"..."\u{9f}", "\u{200e}", "\u{200f}", "\u{2028}"..."\u{202e}",
        "\u{2066}"..."\u{2069}", "\u{feff}":
        text += scalar.named
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text + "'"
  }
}

extension UnicodeScalar {
  /// The scalar for messages, such as `U+0000`.
  var named: String {
    let digits = String(value, radix: 16, uppercase: true)
    return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}
