internal import SystemSupport

/// A character of a text that is a pattern.
enum GlobCharacter: Hashable, Sendable {
  /// A character of the file, which can have a meaning.
  case plain(Unicode.Scalar)
  /// A character of a value, or after a backslash. It has no meaning in a pattern.
  case quoted(Unicode.Scalar)
  /// The value of a child that is not known yet, with the step that provides it.
  case unknown(String)
}

extension FlowTemplate {
  /// Whether the text outside of the values has characters that have a meaning in a pattern.
  var isPattern: Bool {
    parts.contains { part in
      switch part {
      case .text(let text): text.utf8.contains { "*?[{\\".utf8.contains($0) }
      case .value, .each, .column: false
      }
    }
  }

  /// Returns the characters of the pattern.
  ///
  /// - Parameters:
  ///   - isPath: Whether no character of the text has a meaning.
  ///   - each: Returns the characters of the value of the child, or of a column of it.
  func characters(
    _ values: [String: String], isPath: Bool = false, each: (Part) -> [GlobCharacter]
  ) -> [GlobCharacter] {
    parts.flatMap { part -> [GlobCharacter] in
      switch part {
      case .text(let text): isPath ? text.quotedCharacters : text.globCharacters
      case .value(let name): (values[name] ?? "${\(name)}").quotedCharacters
      case .each, .column: each(part)
      }
    }
  }

  /// Returns why the text cannot be a pattern; nil if it can.
  var patternProblem: String? {
    if !isPattern { return nil }
    let all = characters([:]) { _ in [.unknown("")] }
    guard let alternatives = all.alternatives else {
      return "too many braces in \(source.quoted); the limit is "
        + "\([GlobCharacter].mostAlternatives.grouped) names"
    }
    for text in alternatives {
      for part in text.split(whereSeparator: \.isSlash) {
        if let problem = Array(part).firstProblem { return "\(problem) in \(source.quoted)" }
      }
    }
    return nil
  }
}

extension String {
  var quotedCharacters: [GlobCharacter] { unicodeScalars.map { .quoted($0) } }

  fileprivate var globCharacters: [GlobCharacter] {
    var characters: [GlobCharacter] = []
    var isQuoted = false
    for scalar in unicodeScalars {
      if isQuoted {
        characters.append(.quoted(scalar))
        isQuoted = false
      } else if scalar == "\\" {
        isQuoted = true
      } else {
        characters.append(.plain(scalar))
      }
    }
    return isQuoted ? characters + [.quoted("\\")] : characters
  }
}

extension GlobCharacter {
  var isSlash: Bool { self == .plain("/") || self == .quoted("/") }
}

// MARK: Braces

extension [GlobCharacter] {
  /// The maximum number of alternatives of braces.
  static let mostAlternatives = 1_000
  /// The maximum number of opening braces, which limits the time.
  private static let mostBraces = 100

  /// The texts with the braces expanded as in bash: `{a,b}c` is `ac` and `bc`. Braces that are not
  /// closed, or have no comma, are ordinary characters. Nil if there are too many texts.
  var alternatives: [[GlobCharacter]]? {
    count { $0 == .plain("{") } > Self.mostBraces ? nil : expanded
  }

  private var expanded: [[GlobCharacter]]? {
    for (index, character) in enumerated() where character == .plain("{") {
      // Bash does not open a brace here.
      if index == 0, dropFirst().first == .plain("}") { continue }
      guard let end = closingBrace(after: index) else { continue }
      var alternatives: [[GlobCharacter]] = []
      for part in Array(self[(index + 1)..<end]).splitAtCommas {
        guard let texts = part.expanded else { return nil }
        alternatives += texts
      }
      guard let rests = Array(self[(end + 1)...]).expanded,
        alternatives.count * rests.count <= Self.mostAlternatives
      else { return nil }
      return alternatives.flatMap { alternative in
        rests.map { Array(self[..<index]) + alternative + $0 }
      }
    }
    return [self]
  }

  /// Returns the index of the brace that closes an opening one, with a comma between them.
  private func closingBrace(after start: Int) -> Int? {
    var depth = 0
    var hasComma = false
    for index in (start + 1)..<count {
      switch self[index] {
      case .plain("}") where depth == 0 && hasComma: return index
      case .plain("{"): depth += 1
      case .plain("}") where depth > 0: depth -= 1
      case .plain(",") where depth == 0: hasComma = true
      default: break
      }
    }
    return nil
  }

  private var splitAtCommas: [[GlobCharacter]] {
    var parts: [[GlobCharacter]] = [[]]
    var depth = 0
    for character in self {
      if character == .plain(","), depth == 0 {
        parts.append([])
        continue
      }
      if character == .plain("{") { depth += 1 }
      if character == .plain("}"), depth > 0 { depth -= 1 }
      parts[parts.count - 1].append(character)
    }
    return parts
  }

  /// Describes the first bracket or brace that has no meaning, although the writer probably meant one.
  fileprivate var firstProblem: String? {
    var rest = self[...]
    while let first = rest.first {
      if first == .plain("{") {
        return "a brace without a comma or its end; write {a,b} for alternatives, "
          + "or '\\{' for the character"
      }
      guard first == .plain("[") else {
        rest = rest.dropFirst()
        continue
      }
      guard let set = GlobSet(removingFrom: &rest) else {
        return "'[' without ']'; close it, or write '\\[' for the character"
      }
      if let name = set.unknownClass { return "unknown class '[:\(name):]'" }
    }
    return nil
  }
}
