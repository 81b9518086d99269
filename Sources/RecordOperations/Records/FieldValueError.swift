/// An error for a value of an unexpected kind, or a value that cannot be represented.
///
/// ```swift
/// import RecordOperations
///
/// enum Binding: String, FieldConvertible {
///   case hardcover, paperback
///
///   init(fieldValue: FieldValue) throws {
///     guard let binding = Binding(rawValue: try String(fieldValue: fieldValue)) else {
///       throw FieldValueError(fieldValue, isNot: "a binding")
///     }
///     self = binding
///   }
///   var fieldValue: FieldValue { .string(rawValue) }
/// }
/// ```
public struct FieldValueError: Error, CustomStringConvertible {
  /// The expected value, such as "a value of type Int".
  public let expected: String
  /// The value that was found.
  public let found: FieldValue
  /// The record with the value; `nil` if there is none.
  public let record: RecordID?
  /// The key of the field; `nil` if there is none.
  public let key: String?
  /// The number of the row in a file, starting at 1; `nil` if there is none.
  public let row: Int?

  public var description: String {
    let owner = record.map(String.init(describing:)) ?? row.map { "row \($0) of the file" }
    let place = key.map { key in owner.map { "the field \(key) of \($0)" } ?? "the field \(key)" }
    return "\(place ?? "the value") is \(found.shortText); expected \(expected)"
  }

  /// Creates an error, to be thrown by a type that is ``FieldConvertible``.
  ///
  /// - Parameters:
  ///   - found: The value that was found.
  ///   - expected: The expected value, such as "a value between −128 and 127".
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
  /// The value as a literal: `474`, `"Emma"`, `[1, null]`. A date is its text, and a reference the
  /// ID of its record.
  public var description: String {
    switch self {
    case .string(let text): text.debugDescription
    case .date(let date): date.text
    case .reference(let reference): reference.id.description
    case .list(let values): "[\(values.map(\.description).joined(separator: ", "))]"
    case .null, .integer, .double, .bytes: shortText
    }
  }
}

extension DatabaseRecord: CustomStringConvertible {
  /// The ID, the tag and the fields of the record: `Book/1 (tag 3) {pages: 474, title: "Emma"}`.
  public var description: String {
    let fields = keys.map { "\($0): \(self[$0])" }.joined(separator: ", ")
    return "\(id)\(tag.map { " (tag \($0))" } ?? "") {\(fields)}"
  }
}

extension FieldValue {
  /// The value for messages: short, and on one line.
  package var shortText: String {
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

extension String {
  /// The string for messages: short, and on one line.
  package var shortText: String { FieldValue.string(self).shortText }
}
