internal import SQLiteSupport

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Translates predicates into conditions of SQLite, and collects the bound values.
struct SQLiteConditions: SQLConditionWriter {
  static let constants = (always: "1", never: "0")

  let table: SQLiteTable
  private(set) var values: [SQLiteValue] = []
  /// Whether text is compared with < or >.
  private var ordersTexts = false

  init(_ table: SQLiteTable) { self.table = table }

  /// Adds a value, and returns its parameter.
  mutating func bind(_ value: SQLiteValue) -> String {
    values.append(value)
    return "?\(values.count)"
  }

  /// Checks that the file can run the conditions in an order.
  ///
  /// - Throws: A ``RecordError`` if there are more values than a statement can have, or if the file
  ///   sorts text differently.
  func check(for connection: SQLiteConnection, _ order: SQLiteOrder) throws {
    if ordersTexts || order.ordersTexts, try !connection.isUTF8 {
      throw RecordError(
        .unsupported(
          """
          \(connection.file) stores text in UTF-16, which has a different order: its text cannot \
          be sorted, compared with < or >, or matched by prefix
          """
        ))
    }
    let limit = connection.parameterLimit
    if values.count > limit {
      throw RecordError(
        .invalid("the query compares with \(values.count) values; at most \(limit) are allowed"))
    }
  }

  func expression(_ key: String) throws -> String { "t.\(try table.queriedColumn(key).quoted)" }

  func operand(_ key: String, _ value: FieldValue) throws -> SQLiteOperand? {
    SQLiteOperand(try table.queriedColumn(key), try expression(key), value)
  }

  mutating func willOrder(by value: FieldValue) {
    switch value {
    case .integer, .double, .bytes: break
    case .null, .string, .date, .reference, .list: ordersTexts = true
    }
  }

  mutating func condition(_ key: String, contains part: String) throws -> String {
    guard let operand = try operand(key, .string(part)) else { return Self.constants.never }
    return "(\(operand.condition) AND instr(\(try expression(key)), \(bind(.text(part)))) > 0)"
  }

  mutating func condition(_ key: String, hasPrefix prefix: String) throws -> String {
    guard let operand = try operand(key, .string(prefix)),
      let expression = operand.terms.first?.expression
    else { return Self.constants.never }
    ordersTexts = true
    let bytes = Array(prefix.utf8)
    guard let last = bytes.last else { return "(\(operand.condition))" }
    // The byte 255 never occurs in UTF-8, so every byte has a successor.
    let end = Array(bytes.dropLast()) + [last + 1]
    return """
      (\(operand.condition) AND \(expression) >= \(bind(.text(prefix))) \
      AND \(expression) < \(bind(.illFormedText(end))))
      """
  }

  mutating func condition(_ key: String, includes value: FieldValue) throws -> String {
    guard try table.queriedColumn(key).meaning == .list else { return Self.constants.never }
    let name = try expression(key)
    let texts = try texts(ofElement: value)
    guard !texts.isEmpty else { return Self.constants.never }
    let places = texts.map { bind(.text($0)) }.joined(separator: ", ")
    // Elements are compared as JSON text: as values, numbers would be rounded, and text would end
    // at a NUL.
    return """
      CASE WHEN \(SQLiteOperand.isOfMeaning(.list, name)) THEN EXISTS \
      (SELECT 1 FROM json_each(\(name)) AS e WHERE \(name) -> e.fullkey IN (\(places))) ELSE 0 END
      """
  }

  /// Returns the JSON text of all elements that equal the value in a query.
  private func texts(ofElement value: FieldValue) throws -> [String] {
    switch value {
    case .integer(let number):
      let double = Double(exactly: number)?.elementText
      return ["\(number)"] + [double].compactMap(\.self) + (number == 0 ? ["-0.0"] : [])
    case .double(let number):
      guard let whole = Int64(exactly: number) else { return [number.elementText] }
      return try texts(ofElement: .integer(whole))
    // The delete rule of a reference does not affect its equality.
    case .reference(let reference):
      return (try? FieldValue.reference(RecordReference(reference.id)).elementText()).map { [$0] }
        ?? []
    case .date(let date): return Date.texts.contains(date) ? [try value.elementText()] : []
    case .null, .string, .bytes: return [try value.elementText()]
    case .list: return []
    }
  }
}
