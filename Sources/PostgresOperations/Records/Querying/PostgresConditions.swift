internal import RecordOperations

/// A value of a condition with the type to which the statement casts it.
struct PostgresTypedValue {
  let text: String
  let type: String
}

/// Translates predicates into conditions of PostgreSQL, and collects the bound values.
struct PostgresConditions: SQLConditionWriter {
  static let constants = (always: "TRUE", never: "FALSE")

  /// The maximum number of values of a statement.
  private static let limit = 65_000

  let table: PostgresTable
  private(set) var values: [PostgresValue] = []

  init(_ table: PostgresTable) { self.table = table }

  mutating func bind(_ value: PostgresTypedValue) -> String {
    values.append(.text(value.text))
    return "$\(values.count)::\(value.type)"
  }

  /// - Throws: A ``RecordError`` if there are more values than a statement can have.
  func check() throws {
    if values.count > Self.limit {
      throw RecordError(
        .invalid(
          "the query compares with \(values.count) values; at most \(Self.limit) are allowed"))
    }
  }

  func expression(_ key: String) throws -> String { "t.\(try table.queriedColumn(key).quoted)" }

  func operand(
    _ key: String, _ value: FieldValue
  ) throws -> SQLOperand<PostgresTypedValue>? {
    SQLOperand(try table.queriedColumn(key), value)
  }

  mutating func willOrder(by value: FieldValue) {}

  mutating func condition(_ key: String, hasPrefix prefix: String) throws -> String {
    guard let (expression, text) = try text(key, prefix) else { return Self.constants.never }
    let place = bind(PostgresTypedValue(text: text, type: "text"))
    // The first comparison can use an index.
    return "(\(expression) >= \(place) AND starts_with(\(expression), \(place)))"
  }

  mutating func condition(_ key: String, contains part: String) throws -> String {
    guard let (expression, text) = try text(key, part) else { return Self.constants.never }
    if try table.queriedColumn(key).isEncoded, PostgresText.isAmbiguous(part) {
      let pattern = PostgresText.pattern(containing: part)
      return "(\(expression) ~ \(bind(PostgresTypedValue(text: pattern, type: "text"))))"
    }
    return "(strpos(\(expression), \(bind(PostgresTypedValue(text: text, type: "text")))) > 0)"
  }

  /// Returns the expression for a column of text, and the stored form of a text; nil if the column
  /// cannot contain it.
  private func text(_ key: String, _ text: String) throws -> (expression: String, stored: String)? {
    let column = try table.queriedColumn(key)
    let stored = column.encoded(text)
    guard let expression = column.textExpression, !stored.utf8.contains(0) else { return nil }
    return (expression, stored)
  }

  mutating func condition(_ key: String, includes value: FieldValue) throws -> String {
    let column = try table.queriedColumn(key)
    guard column.kind == .list, value.kind != .list,
      let json = try? column.stored([value.withKeptReference], of: table.name)
    else { return Self.constants.never }
    let name = try expression(key)
    let place = bind(PostgresTypedValue(text: json, type: "jsonb"))
    return "(jsonb_typeof(\(name)) = 'array' AND \(name) @> \(place))"
  }
}

extension FieldValue {
  /// The value with the only delete rule that a list can contain, which does not affect equality.
  fileprivate var withKeptReference: FieldValue {
    guard case .reference(let reference) = self else { return self }
    return .reference(RecordReference(reference.id))
  }
}
