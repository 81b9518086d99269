/// A text in which `${name}` is replaced by a value, `${each}` by the value of a child, `${each.name}`
/// by a column of a child, and `$$` by `$`.
package struct FlowTemplate: Hashable, Sendable {
  package enum Part: Hashable, Sendable {
    case text(String)
    case value(String)
    case each
    case column(String)

    /// The text of the part with the values. See ``FlowTemplate/text(_:each:)``.
    func text(_ values: [String: String], each: String?) -> String {
      switch self {
      case .text(let literal): literal
      case .value(let name): values[name] ?? "${\(name)}"
      case .each: each ?? "${each}"
      case .column(let name): each.flatMap { FlowRow(value: $0)[name] } ?? "${each.\(name)}"
      }
    }
  }

  /// The text as it is in the file.
  package let source: String
  /// The parts; nil if the text has no dollar sign, as most texts.
  private let composition: [Part]?
  package let location: FlowLocation

  /// The parts of the text. Texts are not empty, and no two of them are neighbors.
  package var parts: [Part] { composition ?? (source.isEmpty ? [] : [.text(source)]) }

  /// The names of the values that the text uses, sorted, without `each`.
  package var names: [String] {
    guard let composition else { return [] }
    return Set(composition.compactMap { if case .value(let name) = $0 { name } else { nil } })
      .sorted()
  }

  /// The first part that uses the child; nil if none does.
  var eachPart: Part? {
    composition?.first { part in
      switch part {
      case .each, .column: true
      case .text, .value: false
      }
    }
  }

  /// Whether the text uses `${each}` or a column of it.
  package var usesEach: Bool { eachPart != nil }

  /// The columns that the text uses.
  var columns: [String] {
    composition?.compactMap { if case .column(let name) = $0 { name } else { nil } } ?? []
  }

  /// Returns the text with the values.
  ///
  /// - Parameters:
  ///   - values: The values by name. An unknown name stays as it is; a checked file has none.
  ///   - each: The value of the child. With nil, `${each}` stays as it is.
  package func text(_ values: [String: String], each: String? = nil) -> String {
    guard let composition else { return source }
    return composition.reduce(into: "") { $0 += $1.text(values, each: each) }
  }
}

extension FlowTemplate {
  /// The number of bytes of the text with the values.
  func size(_ values: [String: String]) -> Int {
    parts.reduce(0) { size, part in
      switch part {
      case .text(let text): size + text.utf8.count
      case .value(let name): size + (values[name]?.utf8.count ?? 0)
      case .each, .column: size
      }
    }
  }

  /// A text in which nothing is replaced.
  init(_ text: String, at location: FlowLocation) {
    (source, composition, self.location) = (text, nil, location)
  }

  /// Parses a text.
  ///
  /// - Parameter report: Receives the messages of the first problems. Wrong parts stay as they are.
  init(parsing source: String, at location: FlowLocation, report: (String) -> Void) {
    self.source = source
    self.location = location
    guard source.utf8.contains(UInt8(ascii: "$")) else {
      composition = nil
      return
    }
    var parts: [Part] = []
    var literal = ""
    var rest = source.unicodeScalars[...]
    var problems = 0
    func reportFirst(_ message: @autoclosure () -> String) {
      problems += 1
      if problems <= 20 { report(message()) }
    }
    parts: while let index = rest.firstIndex(of: "$") {
      literal.unicodeScalars += rest[..<index]
      rest = rest[rest.index(after: index)...]
      switch rest.first {
      case "$":
        literal += "$"
        rest = rest.dropFirst()
      case "{":
        guard let end = rest.firstIndex(of: "}") else {
          reportFirst("unterminated '${' in \(source.quoted); expected '}'")
          literal += "$"
          // No later one is terminated either.
          break parts
        }
        let name = String(rest[rest.index(after: rest.startIndex)..<end])
        rest = rest[rest.index(after: end)...]
        let column = name.hasPrefix("each.") ? String(name.dropFirst(5)) : nil
        guard name.isValueName || column?.isEmpty == false else {
          reportFirst(
            "invalid name \(name.quoted) in \(source.quoted); expected letters, digits and '_', "
              + "as in ${version}")
          continue
        }
        if !literal.isEmpty { parts.append(.text(literal)) }
        literal = ""
        parts.append(column.map { .column($0) } ?? (name == "each" ? .each : .value(name)))
      case let next:
        literal += "$"
        let name = String(rest.prefix { $0.isNameCharacter })
        reportFirst(
          next?.isNameStart == true
            ? "lone '$' in \(source.quoted); write '${\(name.prefix(80))}' for a value, "
              + "or '$$' for a dollar sign"
            : "lone '$' in \(source.quoted); write '$$' for a dollar sign")
      }
    }
    literal.unicodeScalars += rest
    if !literal.isEmpty { parts.append(.text(literal)) }
    composition = parts
  }
}
