/// A column of a table or a view.
package struct ServedColumn: Sendable {
  /// The meaning of the values of a column.
  package enum Meaning: Hashable, Sendable {
    case integer
    /// 0 or 1.
    case boolean
    case double
    /// A number with single precision.
    case single
    case text
    case uuid
    /// A text that the type lists.
    case enumeration
    case bytes
    case date
    case list
    /// The type and the name of a record, which need not exist.
    case keptReference
    /// A key of another table.
    case foreignKey(type: String, RecordReference.DeleteRule, isInteger: Bool)
    /// Null only: the first value determines the type.
    case untyped
    /// A value of another type, as a text in the form of the database.
    case other
  }

  package let name: String
  /// The type, as the database writes it.
  package let declaredType: String
  /// Whether it is a part of the primary key.
  package let isKey: Bool
  /// Whether its value is the name of the record, and no field.
  package let isName: Bool
  /// Whether its values can be set.
  package let isWritable: Bool
  package let meaning: Meaning

  package init(
    name: String, declaredType: String, isKey: Bool, isName: Bool, isWritable: Bool,
    meaning: Meaning
  ) {
    self.name = name
    self.declaredType = declaredType
    self.isKey = isKey
    self.isName = isName
    self.isWritable = isWritable
    self.meaning = meaning
  }

  /// Returns the value of the column in a file. A key that is an integer stays an integer, as in the
  /// table.
  func exportedValue(of record: DatabaseRecord) -> FieldValue {
    let value: FieldValue = isName ? .string(record.id.name) : record[name]
    switch (meaning, value) {
    case (.integer, .string(let text)): return Int64(text).map { .integer($0) } ?? value
    case (.foreignKey(_, _, isInteger: true), .reference(let reference)):
      return Int64(reference.id.name).map { .integer($0) } ?? value
    default: return value
    }
  }

  /// Returns the value to store for a value of a file. A key of another table becomes a reference.
  func storedValue(of imported: FieldValue) -> FieldValue {
    guard case .foreignKey(let type, let rule, _) = meaning else { return imported }
    switch imported {
    case .integer(let number):
      return .reference(RecordReference(RecordID(type, "\(number)"), onDelete: rule))
    case .string(let name):
      return .reference(RecordReference(RecordID(type, name), onDelete: rule))
    case .null, .double, .bytes, .date, .reference, .list: return imported
    }
  }
}
