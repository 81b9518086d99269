internal import SystemSupport

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The reason why a value or a row is rejected.
struct ImportRejection: Error {
  let text: String
}

/// Converts the values of a file to the type of a column.
///
/// A class because it is used for every cell: a structure would be copied each time.
final class ImportColumn: Sendable {
  enum Kind {
    case integer, real, text, bytes, date, list, reference
    /// Text, which SQLite converts to a number if it looks like one.
    case numeric
    /// A column without a type stores every value unchanged.
    case any
    /// A number with single precision.
    case single
    /// A Boolean as 0 or 1.
    case boolean
    case uuid
    /// A text that the type lists.
    case enumeration
    /// A value of another type, as a text in the form of the database.
    case other
  }

  let name: String
  let kind: Kind
  private let declaredType: String
  /// The type of the references; nil if the cells contain it.
  private let referredType: String?
  /// Whether it holds record names, which are text even if the file has numbers.
  private let holdsRecordNames: Bool

  /// - Parameter type: The type of its references; nil if the cells contain it.
  init(
    _ name: String, _ kind: Kind, declaredType: String, referencesTo type: String?,
    holdsRecordNames: Bool
  ) {
    (self.name, self.kind, self.declaredType) = (name, kind, declaredType)
    (referredType, self.holdsRecordNames) = (type, holdsRecordNames)
  }

  // MARK: Empty cells

  /// Whether an empty cell can be text of the column.
  private var acceptsText: Bool { kind == .text || kind == .any }

  /// Whether an empty cell in quotes is a value. A file of a single column contains null in this
  /// form.
  private var acceptsEmptyText: Bool { acceptsText || kind == .numeric || kind == .bytes }

  /// Returns whether an empty cell is null.
  ///
  /// - Parameter emptyIsNull: Whether it is null in a column of text.
  func isNull(isQuoted: Bool, emptyIsNull: Bool) -> Bool {
    isQuoted ? !acceptsEmptyText : emptyIsNull || !acceptsText
  }

  // MARK: Values

  /// Returns the value of a cell.
  ///
  /// - Throws: An ``ImportRejection`` if the column does not take the value.
  @unsafe func value(ofCell bytes: UnsafeRawBufferPointer) throws -> FieldValue {
    switch kind {
    case .integer: .integer(try unsafe Int64(decimal: bytes) ?? integer(bytes))
    case .real: .double(try unsafe Double(shortDecimal: bytes) ?? double(bytes))
    case .single: .double(try single(unsafe double(bytes)))
    case .text, .numeric, .any, .enumeration, .other: .string(try unsafe text(bytes))
    case .boolean: .integer(try boolean(unsafe text(bytes)))
    case .uuid: .string(try uuid(unsafe text(bytes)))
    case .bytes: .bytes(try self.bytes(unsafe text(bytes)))
    case .date: .date(try date(unsafe text(bytes)))
    case .list: .list(try list(unsafe text(bytes)))
    case .reference: .reference(RecordReference(try reference(unsafe text(bytes))))
    }
  }

  /// Returns the value of a JSON value.
  ///
  /// - Throws: An ``ImportRejection`` if the column does not take the value.
  func value(ofJSON value: FieldValue) throws -> FieldValue {
    switch (value, kind) {
    case (.null, _), (.list, .list): return value
    case (.string(var text), _):
      return try text.withUTF8 { try unsafe self.value(ofCell: UnsafeRawBufferPointer($0)) }
    case (.integer, .integer), (.integer, .numeric), (.integer, .any),
      (.integer(0...1), .boolean):
      return value
    case (.integer(let number), .text) where holdsRecordNames: return .string("\(number)")
    case (.integer(let number), .other): return .string("\(number)")
    case (.integer(let number), .real):
      guard let double = Double(exactly: number) else { throw rejection(of: value) }
      return .double(double)
    case (.integer(let number), .single):
      guard let single = Float(exactly: number) else { throw rejection(of: value) }
      return .double(Double(single))
    case (.double(let number), .integer):
      guard let whole = Int64(exactly: number) else { throw rejection(of: value) }
      return .integer(whole)
    case (.double, .real), (.double, .numeric), (.double, .any): return value
    case (.double(let number), .single): return .double(try single(number))
    default: throw rejection(of: value)
    }
  }

  // MARK: Conversions

  func text(_ bytes: UnsafeRawBufferPointer) throws -> String {
    guard let text = unsafe Span<UInt8>(_unsafeBytes: bytes).text else { throw notText }
    return text
  }

  func integer(_ bytes: UnsafeRawBufferPointer) throws -> Int64 {
    let text = try unsafe text(bytes)
    let digits = text.withoutSpaceAround
    if let number = Int64(digits) { return number }
    if let number = Double(decimal: digits), let whole = Int64(exactly: number),
      // A larger number may have been rounded.
      number.magnitude < 9_007_199_254_740_992
    {
      return whole
    }
    throw rejection(text.shortText, "64-bit integers (\(declaredType))")
  }

  func double(_ bytes: UnsafeRawBufferPointer) throws -> Double {
    if let infinity = unsafe Self.infinity(bytes) { return infinity }
    let text = try unsafe text(bytes)
    let digits = text.withoutSpaceAround
    guard let number = Double(decimal: digits), !number.isOutOfRange(of: digits) else {
      throw rejection(text.shortText, "numbers (\(declaredType))")
    }
    return number
  }

  /// Checks that SQLite does not convert a number of a column of numbers to an infinity or to zero.
  func checkRange(_ bytes: UnsafeRawBufferPointer) throws {
    // Other texts are too short for such a number.
    guard unsafe bytes.count > 300 || bytes.contains(where: { $0 | 0x20 == UInt8(ascii: "e") })
    else { return }
    let text = try unsafe text(bytes)
    let digits = text.withoutSpaceAround
    guard let number = Double(decimal: digits), number.isOutOfRange(of: digits) else { return }
    throw rejection(text.shortText, "numbers that a double can hold (\(declaredType))")
  }

  /// Returns an infinity, in the form that exports write.
  static func infinity(_ bytes: UnsafeRawBufferPointer) -> Double? {
    if unsafe bytes.elementsEqual("inf".utf8) { return .infinity }
    return unsafe bytes.elementsEqual("-inf".utf8) ? -.infinity : nil
  }

  private func single(_ number: Double) throws -> Double {
    let single = Float(number)
    guard single.isFinite || !number.isFinite, single != 0 || number == 0 else {
      throw rejection("\(number)", "numbers (\(declaredType))")
    }
    return Double(single)
  }

  private func boolean(_ text: String) throws -> Int64 {
    switch text.withoutSpaceAround.lowercased() {
    case "0", "false", "f": return 0
    case "1", "true", "t": return 1
    default: throw rejection(text.shortText, "0, 1, false and true (\(declaredType))")
    }
  }

  private func uuid(_ text: String) throws -> String {
    guard let uuid = UUID(uuidString: text) else {
      throw rejection(text.shortText, "UUIDs (\(declaredType))")
    }
    return uuid.uuidString.lowercased()
  }

  func bytes(_ text: String) throws -> [UInt8] {
    guard let data = Data(base64Encoded: text) else {
      throw rejection(text.shortText, "base64-encoded bytes")
    }
    return Array(data)
  }

  func date(_ text: String) throws -> Date {
    guard let date = Date(importedText: text) else {
      throw rejection(
        text.shortText,
        "dates in UTC: 2026-11-22T12:03:04.123Z, 2026-11-22T12:03:04Z or 2026-11-22"
      )
    }
    return date
  }

  func list(_ text: String) throws -> [FieldValue] {
    guard case .list(let values)? = FieldValue(listText: text) else {
      throw rejection(text.shortText, "JSON lists, such as [\"a\",1]")
    }
    return values
  }

  func reference(_ text: String) throws -> RecordID {
    if let referredType { return RecordID(referredType, text) }
    guard let id = RecordID(referenceText: text) else {
      throw rejection(
        text.shortText,
        "references with a type, such as Author/jane, if the import does not give the type")
    }
    return id
  }

  // MARK: Rejections

  private func rejection(of value: FieldValue) -> ImportRejection {
    let expected =
      switch kind {
      case .integer: "integers (\(declaredType))"
      case .real, .single:
        "numbers, and integers only if a \(kind == .real ? "double" : "float") represents them "
          + "exactly"
      case .numeric, .any: "numbers and text"
      case .text, .uuid, .enumeration: "text (\(declaredType))"
      // A number of JSON may have lost digits when it was read.
      case .other: "text (\(declaredType)); a number with a fraction must be in quotes"
      case .boolean: "true and false (\(declaredType))"
      case .bytes: "base64-encoded bytes"
      case .date: "dates as text"
      case .list: "lists"
      case .reference: "references as text"
      }
    return rejection(value.shortText, expected)
  }

  private func rejection(_ found: String, _ expected: String) -> ImportRejection {
    ImportRejection(text: "the column \(name) has \(found), but takes \(expected)")
  }

  var notText: ImportRejection { rejection("bytes that are not UTF-8", "text") }
}
