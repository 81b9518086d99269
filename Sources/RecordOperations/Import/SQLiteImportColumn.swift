internal import SQLiteSupport
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

/// Binds the values of a file to a column.
///
/// A class because it is used for every cell: a structure would be copied each time.
final class SQLiteImportColumn: Sendable {
  private enum Kind {
    case integer, real, text, bytes, date, list, reference
    /// Text, which SQLite converts to a number if it looks like one.
    case numeric
    /// A column without a type stores every value unchanged.
    case any
  }

  let column: SQLiteColumn
  private let kind: Kind
  /// The type of the references; nil if the cells contain it.
  private let referredType: String?
  /// Whether it holds record names, which are text even if the file has numbers.
  private let holdsRecordNames: Bool

  /// - Parameter type: The type of its references; nil if the cells contain it.
  /// - Throws: A ``RecordError`` if the column cannot be written.
  init(_ column: SQLiteColumn, of table: SQLiteTable, referencesTo type: String?) throws {
    guard column.isWritable else {
      throw RecordError(
        .invalid("the column \(column.name) of \(table.name) is computed: it cannot be set"))
    }
    self.column = column
    referredType = type
    holdsRecordNames = table.isOwn && column.keyPosition > 0
    kind =
      switch (column.meaning, column.affinity) {
      case (.date, _): .date
      case (.list, _): .list
      case (.keptReference, _): .reference
      case (_, .integer): .integer
      case (_, .real): .real
      case (_, .numeric): .numeric
      case (_, .text): .text
      case (_, .blob): column.storesAnyValue ? .any : .bytes
      }
  }

  /// Whether an empty cell can be text of the column.
  var acceptsText: Bool { kind == .text || kind == .any }

  /// Whether an empty cell in quotes is a value. A file of a single column contains null in this
  /// form.
  var acceptsEmptyText: Bool { acceptsText || kind == .numeric || kind == .bytes }

  /// Binds the value of a cell.
  ///
  /// - Parameters:
  ///   - isText: Whether the bytes are known to be UTF-8.
  ///   - staysInPlace: Whether the bytes stay valid until the statement has run.
  /// - Throws: An ``ImportRejection`` if the column does not take the value; a ``SQLiteError`` if it
  ///   is too large.
  @inline(__always) @unsafe
  func bind(
    _ bytes: UnsafeRawBufferPointer, isText: Bool, staysInPlace: Bool, at index: Int,
    of statement: SQLiteStatement
  ) throws {
    switch kind {
    case .numeric:
      // SQLite converts other numbers.
      if let number = unsafe Self.infinity(bytes) {
        return try statement.bind(number, at: index)
      }
      fallthrough
    case .text, .any:
      guard unsafe isText || Span<UInt8>(_unsafeBytes: bytes).isText else { throw notText }
      try unsafe statement.bindText(bytes, at: index, isCopied: !staysInPlace)
    case .integer:
      guard let number = unsafe Int64(decimal: bytes) else {
        return try statement.bind(unsafe integer(bytes), at: index)
      }
      try statement.bind(number, at: index)
    case .real:
      guard let number = unsafe Double(shortDecimal: bytes) else {
        return try statement.bind(unsafe double(bytes), at: index)
      }
      try statement.bind(number, at: index)
    case .bytes, .date, .list, .reference:
      try statement.bind(unsafe value(text(bytes)), at: index)
    }
  }

  /// Binds a JSON value.
  ///
  /// - Throws: An ``ImportRejection`` if the column does not take the value; a ``SQLiteError`` if it
  ///   is too large.
  func bind(_ value: FieldValue, at index: Int, of statement: SQLiteStatement) throws {
    switch (value, kind) {
    case (.null, _): try statement.bindNull(at: index)
    case (.string(var text), _):
      try text.withUTF8 { bytes in
        try unsafe bind(
          UnsafeRawBufferPointer(bytes), isText: true, staysInPlace: false, at: index,
          of: statement)
      }
    case (.integer(let number), .integer), (.integer(let number), .numeric),
      (.integer(let number), .any):
      try statement.bind(number, at: index)
    case (.integer(let number), .text) where holdsRecordNames:
      try bind(.string("\(number)"), at: index, of: statement)
    case (.integer(let number), .real):
      guard let double = Double(exactly: number) else { throw rejection(of: value) }
      try statement.bind(double, at: index)
    case (.double(let number), .integer):
      guard let whole = Int64(exactly: number) else { throw rejection(of: value) }
      try statement.bind(whole, at: index)
    case (.double(let number), .real), (.double(let number), .numeric), (.double(let number), .any):
      try statement.bind(number, at: index)
    case (.list(let values), .list): try statement.bind(list(values), at: index)
    default: throw rejection(of: value)
    }
  }

  private func rejection(of value: FieldValue) -> ImportRejection {
    let expected =
      switch kind {
      case .integer: "integers (\(column.declaredType))"
      case .real: "numbers, and integers only if a double represents them exactly"
      case .numeric, .any: "numbers and text"
      case .text: "text (\(column.declaredType))"
      case .bytes: "base64-encoded bytes"
      case .date: "dates as text"
      case .list: "lists"
      case .reference: "references as text"
      }
    return rejection(value.shortText, expected)
  }

  private func rejection(_ found: String, _ expected: String) -> ImportRejection {
    ImportRejection(text: "the column \(column.name) has \(found), but takes \(expected)")
  }

  private var notText: ImportRejection { rejection("bytes that are not UTF-8", "text") }

  private func text(_ bytes: UnsafeRawBufferPointer) throws -> String {
    guard let text = unsafe Span<UInt8>(_unsafeBytes: bytes).text else { throw notText }
    return text
  }

  private func integer(_ bytes: UnsafeRawBufferPointer) throws -> Int64 {
    let text = try unsafe text(bytes)
    let digits = text.withoutSpaceAround
    if let number = Int64(digits) { return number }
    if let number = Double(decimal: digits), let whole = Int64(exactly: number),
      // A larger number may have been rounded.
      number.magnitude < 9_007_199_254_740_992
    {
      return whole
    }
    throw rejection(text.shortText, "64-bit integers (\(column.declaredType))")
  }

  private func double(_ bytes: UnsafeRawBufferPointer) throws -> Double {
    if let infinity = unsafe Self.infinity(bytes) { return infinity }
    let text = try unsafe text(bytes)
    guard let number = Double(decimal: text.withoutSpaceAround), number.isFinite else {
      throw rejection(text.shortText, "numbers (\(column.declaredType))")
    }
    return number
  }

  /// Returns an infinity, in the form that exports write.
  private static func infinity(_ bytes: UnsafeRawBufferPointer) -> Double? {
    if unsafe bytes.elementsEqual("inf".utf8) { return .infinity }
    return unsafe bytes.elementsEqual("-inf".utf8) ? -.infinity : nil
  }

  /// Returns the value to bind for a cell that is not plain text or a number.
  private func value(_ text: String) throws -> SQLiteValue {
    switch kind {
    case .integer, .real, .text, .numeric, .any: return .text(text)
    case .bytes:
      guard let data = Data(base64Encoded: text) else {
        throw rejection(text.shortText, "base64-encoded bytes")
      }
      return .blob(Array(data))
    case .date:
      guard let date = Date(importedText: text) else {
        throw rejection(
          text.shortText,
          "dates in UTC: 2026-11-22T12:03:04.123Z, 2026-11-22T12:03:04Z or 2026-11-22"
        )
      }
      return .text(date.text)
    case .list:
      guard case .list(let values)? = FieldValue(listText: text) else {
        throw rejection(text.shortText, "JSON lists, such as [\"a\",1]")
      }
      return try list(values)
    case .reference:
      if let referredType {
        return .text(try RecordID(referredType, text).referenceText())
      }
      guard let id = RecordID(referenceText: text) else {
        throw rejection(
          text.shortText,
          "references with a type, such as Author/jane, if the import does not give the type")
      }
      return .text(try id.referenceText())
    }
  }

  private func list(_ values: [FieldValue]) throws -> SQLiteValue {
    do { return .text(try FieldValue.listText(values)) } catch let error as RecordError {
      throw ImportRejection(text: "the column \(column.name) cannot store a list: \(error)")
    }
  }
}
