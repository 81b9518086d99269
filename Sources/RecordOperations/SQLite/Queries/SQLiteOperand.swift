#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A column beside a value of one kind that it is compared with.
///
/// Values of different kinds are neither equal nor in any order, and a column may have several in it; so each
/// comparison is one of the rows alone where the column has that kind.
struct SQLiteOperand {
  /// What is compared with what: by the first, where they are equal by the second, and so on.
  var terms: [(expression: String, value: SQLiteValue)]
  /// What holds where the column has a value of that kind.
  var condition: String
  /// Whether that is so of all that is equal, too.
  var isImplied = false

  /// - Parameters:
  ///   - column: One that is not compared with null, and not with a list.
  ///   - name: What the column is called in the statement.
  /// - Returns: Nil if the column can have no values of that kind.
  init?(_ column: SQLiteColumn, _ name: String, _ value: FieldValue) {
    switch value {
    case .null, .list: return nil
    case .integer(let number): self.init(number: .integer(number), column, name)
    case .double(let number): self.init(number: .real(number), column, name)
    case .string(let text): self.init(text: text, column, name)
    case .bytes(let bytes):
      self.init(
        terms: [(name, .blob(bytes))], condition: "typeof(\(name)) = 'blob'", isImplied: true)
    case .date(let date): self.init(date: date, column, name)
    case .reference(let reference): self.init(reference: reference.id, column, name)
    }
  }

  private init(
    terms: [(expression: String, value: SQLiteValue)], condition: String, isImplied: Bool
  ) {
    self.terms = terms
    self.condition = condition
    self.isImplied = isImplied
  }

  private init(number: SQLiteValue, _ column: SQLiteColumn, _ name: String) {
    var isNatural = column.affinity != .text
    // An index of such a column would round it.
    if case .integer(let number) = number, column.affinity == .real, Double(exactly: number) == nil
    {
      isNatural = false
    }
    // With a sign before it, a column does not make of what it is compared with what would be put into it.
    let expression = isNatural ? name : "+\(name)"
    if case .foreignKey = column.meaning {
      self.init(
        terms: [(expression, number)], condition: "typeof(\(name)) = 'real'", isImplied: false)
    } else {
      self.init(
        terms: [(expression, number)], condition: "typeof(\(name)) IN ('integer', 'real')",
        isImplied: true)
    }
  }

  private init?(text: String, _ column: SQLiteColumn, _ name: String) {
    let isNatural = column.affinity == .text || column.affinity == .blob
    let expression = "\(isNatural ? "" : "+")\(name) COLLATE BINARY"
    let isText = "typeof(\(name)) = 'text'"
    switch column.meaning {
    case .plain:
      self.init(terms: [(expression, .text(text))], condition: isText, isImplied: true)
    case .date, .list, .keptReference:
      let other = Self.isOfMeaning(column.meaning, name)
      self.init(
        terms: [(expression, .text(text))], condition: "\(isText) AND (\(other)) IS NOT TRUE",
        isImplied: false)
    case .foreignKey: return nil
    }
  }

  private init?(date: Date, _ column: SQLiteColumn, _ name: String) {
    guard column.meaning == .date else { return nil }
    // Beyond the first and the last text there is one that is less, and one that is greater than all.
    let text = Date.texts.contains(date) ? date.text : date < Date.texts.lowerBound ? "" : ":"
    self.init(
      terms: [("\(name) COLLATE BINARY", .text(text))],
      condition: Self.isOfMeaning(.date, name), isImplied: Date.texts.contains(date))
  }

  private init?(reference id: RecordID, _ column: SQLiteColumn, _ name: String) {
    switch column.meaning {
    case .plain, .date, .list: return nil
    case .keptReference:
      let condition = Self.isOfMeaning(.keptReference, name)
      if let text = try? id.referenceText() {
        self.init(terms: [(name, .text(text))], condition: condition, isImplied: true)
        isWhole = true
      } else {
        self.init(terms: [], condition: condition, isImplied: false)
      }
      let parts = Self.referenceParts(name)
      ordered = [
        ("x''", .blob(Array(id.zone.name.utf8))), (parts.type, .blob(Array(id.type.utf8))),
        (parts.name, .blob(Array(id.name.utf8))),
      ]
    case .foreignKey(let type, _):
      let isNatural = column.affinity == .text
      let text = isNatural ? name : "CAST(\(name) AS TEXT)"
      self.init(
        terms: [], condition: "typeof(\(name)) IN ('text', 'integer')", isImplied: false)
      let isSame = id.zone == .default && id.type.utf8.elementsEqual(type.utf8)
      let own = JSONText.hexadecimal(Array(type.utf8))
      if isSame {
        terms = [("\(text) COLLATE BINARY", .text(id.name))]
        isWhole = true
        isImplied = isNatural
      }
      ordered = [
        ("x''", .blob(Array(id.zone.name.utf8))), ("x'\(own)'", .blob(Array(id.type.utf8))),
        ("\(text) COLLATE BINARY", .text(id.name)),
      ]
    }
  }

  /// What is compared for less and greater, where that is something else.
  private(set) var ordered: [(expression: String, value: SQLiteValue)]?
  /// Whether the terms alone say what is equal.
  private var isWhole = false

  /// What is compared for equal; those of ``ordered`` where there is nothing simpler.
  var equated: [(expression: String, value: SQLiteValue)] {
    if let ordered, !isWhole { return ordered }
    return terms
  }

  /// What holds where the value of a column is one of those that are its meaning, and no odd text.
  static func isOfMeaning(_ meaning: SQLiteMeaning, _ name: String) -> String {
    switch meaning {
    case .plain, .foreignKey: "typeof(\(name)) = 'text'"
    // With a modifier, the 30th of February becomes the 2nd of March.
    case .date:
      "typeof(\(name)) = 'text' AND strftime('%Y-%m-%dT%H:%M:%fZ', \(name), '+0 days') = \(name)"
    case .list:
      "CASE WHEN json_valid(\(name)) THEN json_type(\(name)) = 'array' ELSE 0 END"
    case .keptReference: "typeof(\(name)) = 'text' AND instr(\(name), '/') > 1"
    }
  }

  /// What computes type and name of a reference that is kept. As bytes, because texts end at a NUL for `substr`.
  static func referenceParts(_ name: String) -> (type: String, name: String) {
    let bytes = "CAST(\(name) AS BLOB)"
    let mark = "instr(\(bytes), x'2F')"
    return ("substr(\(bytes), 1, \(mark) - 1)", "substr(\(bytes), \(mark) + 1)")
  }
}
