/// A value that is not what it is taken for.
public struct FieldValueError: Error, CustomStringConvertible {
  /// What was expected: "Int", "a value between −128 and 127".
  public let expected: String
  /// What there is.
  public let found: FieldValue
  /// The record that it is in; nil where it is by itself.
  public let record: RecordID?
  /// The key of the field; nil where it is by itself.
  public let key: String?
  /// Which row of a file it is of, from 1; nil where it is of none.
  public let row: Int?

  public var description: String {
    let owner = record.map(String.init(describing:)) ?? row.map { "row \($0) of the file" }
    let place = key.map { key in owner.map { "the field \(key) of \($0)" } ?? "the field \(key)" }
    return "\(place ?? "the value") is \(found.shown); expected \(expected)"
  }

  /// For a type that is ``FieldConvertible``.
  ///
  /// - Parameters:
  ///   - found: What there is.
  ///   - expected: What was expected.
  public init(_ found: FieldValue, isNot expected: String) {
    self.init(expected: expected, found: found, record: nil, key: nil, row: nil)
  }

  init(_ found: FieldValue, isNot expected: Any.Type) {
    self.init(found, isNot: "a value of type \(expected)")
  }

  private init(expected: String, found: FieldValue, record: RecordID?, key: String?, row: Int?) {
    self.expected = expected
    self.found = found
    self.record = record
    self.key = key
    self.row = row
  }

  func at(_ key: String, of record: RecordID? = nil) -> FieldValueError {
    FieldValueError(expected: expected, found: found, record: record, key: key, row: row)
  }

  func at(row: Int) -> FieldValueError {
    FieldValueError(expected: expected, found: found, record: record, key: key, row: row)
  }
}

extension FieldValue: CustomStringConvertible {
  /// The value as it is written: `474`, `"Emma"`, `[1, null]`; a moment by its text, a reference by the name of its record.
  public var description: String {
    switch self {
    case .string(let text): text.debugDescription
    case .date(let date): date.text
    case .reference(let reference): reference.id.description
    case .list(let values): "[\(values.map(\.description).joined(separator: ", "))]"
    case .null, .integer, .double, .bytes: shown
    }
  }
}

extension DatabaseRecord: CustomStringConvertible {
  /// Its name, its tag and its fields: `Book/1 (tag 3) {pages: 474, title: "Emma"}`.
  public var description: String {
    let fields = keys.map { "\($0): \(self[$0])" }.joined(separator: ", ")
    return "\(id)\(tag.map { " (tag \($0))" } ?? "") {\(fields)}"
  }
}

extension FieldValue {
  /// A value for people: short, and in one line.
  var shown: String {
    switch self {
    case .null: "null"
    case .integer(let number): "\(number)"
    case .double(let number): "\(number)"
    case .string(let text):
      "\(String(text.prefix(40)).debugDescription)\(text.count > 40 ? "…" : "")"
    case .bytes(let bytes): "\(bytes.count) bytes"
    case .date(let date): "the date \(date.text)"
    case .reference(let reference): "a reference to \(reference.id)"
    case .list(let values): "a list of \(values.count)"
    }
  }
}
