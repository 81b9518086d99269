internal import SQLiteSupport
internal import SystemSupport

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

typealias SQLiteOperand = SQLOperand<SQLiteValue>

extension SQLOperand<SQLiteValue> {
  /// - Parameters:
  ///   - column: The compared column.
  ///   - name: The expression for the column in the statement.
  /// - Returns: Nil if the column cannot hold values of that kind, and for null and lists.
  init?(_ column: SQLiteColumn, _ name: String, _ value: FieldValue) {
    switch value {
    case .null, .list: return nil
    case .integer(let number): self.init(number: .integer(number), column, name)
    case .double(let number): self.init(number: .real(number), column, name)
    case .string(let text): self.init(text: text, column, name)
    case .bytes(let bytes):
      self.init(
        terms: [(name, .blob(bytes))], condition: "typeof(\(name)) = 'blob'",
        equalityImpliesCondition: true)
    case .date(let date): self.init(date: date, column, name)
    case .reference(let reference): self.init(reference: reference.id, column, name)
    }
  }

  private init(number: SQLiteValue, _ column: SQLiteColumn, _ name: String) {
    var needsNoConversion = column.affinity != .text
    // An index of a REAL column would round the number.
    if case .integer(let number) = number, column.affinity == .real, Double(exactly: number) == nil
    {
      needsNoConversion = false
    }
    // The unary plus removes the affinity of the column, which would convert the other operand.
    let expression = needsNoConversion ? name : "+\(name)"
    if case .foreignKey = column.meaning {
      self.init(
        terms: [(expression, number)], condition: "typeof(\(name)) = 'real'",
        equalityImpliesCondition: false)
    } else {
      self.init(
        terms: [(expression, number)], condition: "typeof(\(name)) IN ('integer', 'real')",
        equalityImpliesCondition: true)
    }
  }

  private init?(text: String, _ column: SQLiteColumn, _ name: String) {
    let needsNoConversion = column.affinity == .text || column.affinity == .blob
    let expression = "\(needsNoConversion ? "" : "+")\(name) COLLATE BINARY"
    let isText = "typeof(\(name)) = 'text'"
    switch column.meaning {
    case .plain:
      self.init(
        terms: [(expression, .text(text))], condition: isText, equalityImpliesCondition: true)
    case .date, .list, .keptReference:
      let other = Self.isOfMeaning(column.meaning, name)
      self.init(
        terms: [(expression, .text(text))], condition: "\(isText) AND (\(other)) IS NOT TRUE",
        equalityImpliesCondition: false)
    case .foreignKey: return nil
    }
  }

  private init?(date: Date, _ column: SQLiteColumn, _ name: String) {
    guard column.meaning == .date else { return nil }
    // Outside the range of stored dates, compare with text that is less or greater than all of
    // them.
    let text = Date.texts.contains(date) ? date.text : date < Date.texts.lowerBound ? "" : ":"
    self.init(
      terms: [("\(name) COLLATE BINARY", .text(text))],
      condition: Self.isOfMeaning(.date, name), equalityImpliesCondition: Date.texts.contains(date))
  }

  private init?(reference id: RecordID, _ column: SQLiteColumn, _ name: String) {
    switch column.meaning {
    case .plain, .date, .list: return nil
    case .keptReference:
      let condition = Self.isOfMeaning(.keptReference, name)
      if let text = try? id.referenceText() {
        self.init(
          terms: [(name, .text(text))], condition: condition, equalityImpliesCondition: true)
        isSufficientForEquality = true
      } else {
        self.init(terms: [], condition: condition, equalityImpliesCondition: false)
      }
      let parts = Self.referenceParts(name)
      orderTerms = [
        ("x''", .blob(Array(id.zone.name.utf8))), (parts.type, .blob(Array(id.type.utf8))),
        (parts.name, .blob(Array(id.name.utf8))),
      ]
    case .foreignKey(let type, _):
      let needsNoConversion = column.affinity == .text
      let text = needsNoConversion ? name : "CAST(\(name) AS TEXT)"
      self.init(
        terms: [], condition: "typeof(\(name)) IN ('text', 'integer')",
        equalityImpliesCondition: false)
      let isSame = id.zone == .default && id.type.hasSameBytes(as: type)
      let own = SQLiteName.literal(Array(type.utf8))
      if isSame {
        terms = [("\(text) COLLATE BINARY", .text(id.name))]
        isSufficientForEquality = true
        equalityImpliesCondition = needsNoConversion
      }
      orderTerms = [
        ("x''", .blob(Array(id.zone.name.utf8))), (own, .blob(Array(id.type.utf8))),
        ("\(text) COLLATE BINARY", .text(id.name)),
      ]
    }
  }

  /// Returns a condition that the column has a value of this meaning, and not other text.
  static func isOfMeaning(_ meaning: SQLiteMeaning, _ name: String) -> String {
    switch meaning {
    case .plain, .foreignKey: "typeof(\(name)) = 'text'"
    // With a modifier, SQLite turns February 30 into March 2, which differs from the text.
    case .date:
      "typeof(\(name)) = 'text' AND strftime('%Y-%m-%dT%H:%M:%fZ', \(name), '+0 days') = \(name)"
    case .list:
      "CASE WHEN json_valid(\(name)) THEN json_type(\(name)) = 'array' ELSE 0 END"
    case .keptReference: "typeof(\(name)) = 'text' AND instr(\(name), '/') > 1"
    }
  }

  /// Returns expressions for the type and the name of a `.keep` reference. They use bytes, because
  /// `substr` ends text at a NUL.
  static func referenceParts(_ name: String) -> (type: String, name: String) {
    let bytes = "CAST(\(name) AS BLOB)"
    let mark = "instr(\(bytes), x'2F')"
    return ("substr(\(bytes), 1, \(mark) - 1)", "substr(\(bytes), \(mark) + 1)")
  }
}
