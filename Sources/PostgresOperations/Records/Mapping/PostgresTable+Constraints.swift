internal import RecordOperations
internal import SystemSupport

extension PostgresTable {
  /// Returns the constraints that a table of SQLite can have, too. It never demands more: values that differ here differ
  /// there, and it accepts what can be stored here.
  ///
  /// - Parameters:
  ///   - columns: The result of ``PostgresSchemaStatements/columnConstraints``.
  ///   - indexes: The result of ``PostgresSchemaStatements/uniqueIndexes``.
  func constraints(columns: PostgresRows, uniqueIndexes indexes: PostgresRows) -> TableConstraints {
    if isOwn { return .none }
    func ownRows(_ rows: PostgresRows) -> [Int] {
      (0..<rows.count).filter { (rows.text($0, 0) ?? "").hasSameBytes(as: name) }
    }
    func field(_ name: String) -> PostgresColumn? {
      fields.first { $0.name.hasSameBytes(as: name) && $0.isWritable }
    }
    let constrained = ownRows(columns).compactMap { row -> TableConstraints.Column? in
      guard let column = field(columns.text(row, 1) ?? "") else { return nil }
      let isRequired = columns.boolean(row, 2) ?? false
      return TableConstraints.Column(
        name: column.name, isRequired: isRequired && !column.kind.isNullified,
        defaultValue: columns.text(row, 3).flatMap(column.constant))
    }
    let unique = ownRows(indexes).compactMap { row -> [String]? in
      let names = PostgresTableReader.names(indexes.text(row, 1) ?? "")
      let columns = names.compactMap(field)
      let areComparable = columns.count == names.count && columns.allSatisfy(\.kind.isExact)
      return areComparable ? names : nil
    }
    return TableConstraints(columns: constrained, unique: unique)
  }
}

extension PostgresColumn.Kind {
  /// Whether values that differ are different fields: a date has more digits than its field, and so may the numbers in
  /// a list.
  fileprivate var isExact: Bool {
    switch self {
    case .date, .list: false
    default: true
    }
  }

  /// Whether a file sets it to null when the row that it refers to is deleted. PostgreSQL may set a default.
  fileprivate var isNullified: Bool {
    if case .foreignKey(_, .nullify, _) = self { true } else { false }
  }
}

extension PostgresColumn {
  /// Returns the value of a default, if it is a constant of a kind that has one form.
  ///
  /// - Parameter expression: For example `'new'::text`, `'-1'::integer` or `true`.
  fileprivate func constant(_ expression: String) -> FieldValue? {
    let text: String
    if let match = expression.wholeMatch(
      of: /'((?:[^']|'')*)'::(?:"[^"]+"|[A-Za-z0-9_. ])+(?:\([0-9,]+\))?(?:\[\])?/)
    {
      text = String(match.1.replacing("''", with: "'"))
    } else if expression.wholeMatch(of: /-?[0-9.]+|\(-[0-9.]+\)|true|false/) != nil {
      text = String(expression.trimmingPrefix("(").replacing(")", with: ""))
    } else {
      return nil
    }
    switch kind {
    case .integer, .double, .real, .text, .uuid, .enumeration, .other, .list:
      let value = fieldValue(text)
      return value.kind == sample?.kind ? value : nil
    case .boolean: return text == "true" ? .integer(1) : text == "false" ? .integer(0) : nil
    case .bytes, .date, .keptReference, .foreignKey, .null: return nil
    }
  }
}
