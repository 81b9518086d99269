internal import RecordOperations
internal import SystemSupport

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A column of a table or a view. A class, because it is passed around for each value.
final class PostgresColumn: Sendable {
  /// The kind of the values of a column, and how they are stored.
  enum Kind: Hashable, Sendable {
    /// An integer of a number of bits.
    case integer(bits: Int)
    /// A Boolean as 0 or 1.
    case boolean
    case double
    /// A number with single precision.
    case real
    case text
    /// A text that has only one form, such as a UUID in lower case.
    case uuid
    /// A text that the type lists.
    case enumeration
    case bytes
    /// A date with a number of digits after the seconds, of which fields have at most three.
    case date(digits: Int)
    case list
    /// The type and the name of a record, which need not exist.
    case keptReference
    /// Null only: the column of a field that has never had a value.
    case null
    /// A key of another table.
    case foreignKey(type: String, RecordReference.DeleteRule, isInteger: Bool)
    /// A value of any other type, as a text in the form of PostgreSQL.
    case other
  }

  let name: String
  /// The quoted name.
  let quoted: String
  /// The type, as PostgreSQL writes it.
  let declaredType: String
  /// The type without a length, to which values are cast.
  let castType: String
  let kind: Kind
  /// Whether its texts are stored as ``PostgresText`` does.
  let isEncoded: Bool
  /// Whether its values can be set.
  let isWritable: Bool

  init(
    name: String, declaredType: String, castType: String, kind: Kind, isEncoded: Bool,
    isWritable: Bool
  ) {
    self.name = name
    quoted = PostgresName.quoted(name)
    self.declaredType = declaredType
    self.castType = castType
    self.kind = kind
    self.isEncoded = isEncoded
    self.isWritable = isWritable
  }

  /// The expression that is read, of rows with the alias `t`.
  var selection: String {
    switch kind {
    case .boolean: "t.\(quoted)::int"
    case .real: "t.\(quoted)::double precision"
    case .uuid, .enumeration, .other: text
    case .date:
      """
      CASE WHEN \(isDate) THEN (round(date_part('epoch', \(date)) * 1000)::bigint)::text \
      ELSE t.\(quoted)::text END
      """
    case .integer, .double, .text, .bytes, .list, .keptReference, .null, .foreignKey:
      "t.\(quoted)"
    }
  }

  /// An expression for a text that determines the value.
  var text: String {
    // A cast adds the length of the network also to a single address.
    castType == "inet"
      ? "CASE WHEN t.\(quoted) IS NOT NULL THEN concat(t.\(quoted)) END" : "t.\(quoted)::text"
  }

  /// The condition that a column of dates has a value that a field can hold as a date.
  var isDate: String {
    "t.\(quoted) >= '0001-01-01 00:00:00+00' AND t.\(quoted) < '9999-12-31 24:00:00+00'"
  }

  /// The expression for the date of a column of dates: fields have milliseconds.
  var date: String {
    if case .date(let digits) = kind, digits > 3 {
      return "date_trunc('milliseconds', t.\(quoted))"
    }
    return "t.\(quoted)"
  }

  func decoded(_ text: String) -> String { isEncoded ? PostgresText.decoded(text) : text }
  func encoded(_ text: String) -> String { isEncoded ? PostgresText.encoded(text) : text }

  /// Returns the value of a field. A value that no field of this kind can hold is returned as the
  /// text of PostgreSQL.
  func fieldValue(_ stored: String?) -> FieldValue {
    guard let stored else { return .null }
    switch kind {
    case .integer, .boolean: return Int64(stored).map { .integer($0) } ?? .string(stored)
    case .double, .real: return Double(stored).map { .double($0) } ?? .string(stored)
    case .text: return .string(decoded(stored))
    case .uuid, .enumeration, .null, .other: return .string(stored)
    case .bytes: return Self.bytes(stored).map { .bytes($0) } ?? .string(stored)
    case .date:
      guard let milliseconds = Int64(stored) else { return .string(stored) }
      let date = Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
      return Date.texts.contains(date) ? .date(date) : .string(stored)
    case .list:
      guard case .list(let elements)? = FieldValue(listText: stored) else { return .string(stored) }
      return .list(isEncoded ? elements.map { $0.mapTexts(PostgresText.decoded) } : elements)
    case .keptReference:
      return RecordID(referenceText: decoded(stored)).map { .reference(RecordReference($0)) }
        ?? .string(decoded(stored))
    case .foreignKey(let type, let rule, _):
      return .reference(RecordReference(RecordID(type, decoded(stored)), onDelete: rule))
    }
  }

  private static func bytes(_ hexadecimal: String) -> [UInt8]? {
    let digits = hexadecimal.utf8.dropFirst(2)
    guard hexadecimal.hasPrefix("\\x"), digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 2)
    var high: UInt8?
    for digit in digits {
      // Lower case only.
      let value = digit < UInt8(ascii: "a") ? digit &- UInt8(ascii: "0") : digit &- 87
      guard value < 16 else { return nil }
      if let first = high {
        bytes.append(first << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    return bytes
  }
}

extension FieldValue {
  /// Returns the element of a list with its texts changed.
  func mapTexts(_ change: (String) -> String) -> FieldValue {
    switch self {
    case .string(let text): .string(change(text))
    case .reference(let reference):
      .reference(
        RecordReference(
          RecordID(change(reference.id.type), change(reference.id.name), in: reference.id.zone),
          onDelete: reference.onDelete))
    case .null, .integer, .double, .bytes, .date, .list: self
    }
  }
}
