#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Why a value is none of its column.
struct ImportRefusal: Error {
  let text: String
}

/// How the values of a file are put into a column.
///
/// It is a class because it is asked for every cell: a structure would be copied each time.
final class SQLiteImportColumn: Sendable {
  private enum Kind {
    case integer, real, text, bytes, date, list, reference
    /// Texts, of which SQLite makes numbers if they look like some.
    case numeric
    /// A column without a type takes everything as it is.
    case any
  }

  let column: SQLiteColumn
  private let kind: Kind
  /// The type to which the references lead; nil if their cells say it.
  private let referredType: String?
  /// Whether it has the names of records, which are texts, also where a file has numbers for them.
  private let hasNames: Bool

  /// - Parameter type: The type to which its references lead; nil if their cells say it.
  /// - Throws: A ``RecordError`` if it cannot be written.
  init(_ column: SQLiteColumn, of table: SQLiteTable, referencesTo type: String?) throws {
    guard column.isWritable else {
      throw RecordError(
        .invalid("the column \(column.name) of \(table.name) is computed: it cannot be set"))
    }
    self.column = column
    referredType = type
    hasNames = table.isOwn && column.keyPosition > 0
    kind =
      switch (column.meaning, column.affinity) {
      case (.date, _): .date
      case (.list, _): .list
      case (.keptReference, _): .reference
      case (_, .integer): .integer
      case (_, .real): .real
      case (_, .numeric): .numeric
      case (_, .text): .text
      case (_, .blob): column.takesAll ? .any : .bytes
      }
  }

  /// Whether an empty cell may be a text of it.
  var takesTexts: Bool { kind == .text || kind == .any }

  /// Whether an empty cell in quotes is a value of it. Of one column alone, null is written so.
  var takesEmpty: Bool { takesTexts || kind == .numeric || kind == .bytes }

  /// Binds the value that a text is.
  ///
  /// - Parameters:
  ///   - isText: Whether it is known already that the bytes are UTF-8.
  ///   - staysInPlace: Whether the bytes stay as they are until the statement has run.
  /// - Throws: An ``ImportRefusal`` if it is none of the column; a ``SQLiteError`` if it is too large.
  @inline(__always) @unsafe
  func bind(
    _ bytes: UnsafeRawBufferPointer, isText: Bool, staysInPlace: Bool, at index: Int,
    of statement: SQLiteStatement
  ) throws {
    switch kind {
    case .numeric:
      // SQLite makes numbers of the others.
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

  /// Binds a value of JSON.
  ///
  /// - Throws: An ``ImportRefusal`` if it is none of the column; a ``SQLiteError`` if it is too large.
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
    case (.integer(let number), .text) where hasNames:
      try bind(.string("\(number)"), at: index, of: statement)
    case (.integer(let number), .real):
      guard let double = Double(exactly: number) else { throw refusal(of: value) }
      try statement.bind(double, at: index)
    case (.double(let number), .integer):
      guard let whole = Int64(exactly: number) else { throw refusal(of: value) }
      try statement.bind(whole, at: index)
    case (.double(let number), .real), (.double(let number), .numeric), (.double(let number), .any):
      try statement.bind(number, at: index)
    case (.list(let values), .list): try statement.bind(list(values), at: index)
    default: throw refusal(of: value)
    }
  }

  private func refusal(of value: FieldValue) -> ImportRefusal {
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
    return refusal(value.shown, expected)
  }

  private func refusal(_ found: String, _ expected: String) -> ImportRefusal {
    ImportRefusal(text: "the column \(column.name) has \(found), but takes \(expected)")
  }

  private var notText: ImportRefusal { refusal("bytes that are not UTF-8", "text") }

  private func text(_ bytes: UnsafeRawBufferPointer) throws -> String {
    guard let text = unsafe Span<UInt8>(_unsafeBytes: bytes).text else { throw notText }
    return text
  }

  private func integer(_ bytes: UnsafeRawBufferPointer) throws -> Int64 {
    let text = try unsafe text(bytes)
    let digits = text.withoutSpaceAround
    if let number = Int64(digits) { return number }
    if let number = Double(decimal: digits), let whole = Int64(exactly: number),
      // A larger one has been rounded already.
      number.magnitude < 9_007_199_254_740_992
    {
      return whole
    }
    throw refusal(text.shown, "64-bit integers (\(column.declaredType))")
  }

  private func double(_ bytes: UnsafeRawBufferPointer) throws -> Double {
    if let infinity = unsafe Self.infinity(bytes) { return infinity }
    let text = try unsafe text(bytes)
    guard let number = Double(decimal: text.withoutSpaceAround), number.isFinite else {
      throw refusal(text.shown, "numbers (\(column.declaredType))")
    }
    return number
  }

  /// As they are written to files.
  private static func infinity(_ bytes: UnsafeRawBufferPointer) -> Double? {
    if unsafe bytes.elementsEqual("inf".utf8) { return .infinity }
    return unsafe bytes.elementsEqual("-inf".utf8) ? -.infinity : nil
  }

  /// What is bound for a text in a column of something else.
  private func value(_ text: String) throws -> SQLiteValue {
    switch kind {
    case .integer, .real, .text, .numeric, .any: return .text(text)
    case .bytes:
      guard let data = Data(base64Encoded: text) else {
        throw refusal(text.shown, "base64-encoded bytes")
      }
      return .blob(Array(data))
    case .date:
      guard let date = Date(importedText: text) else {
        throw refusal(
          text.shown, "dates in UTC: 2026-11-22T12:03:04.123Z, 2026-11-22T12:03:04Z or 2026-11-22"
        )
      }
      return .text(date.text)
    case .list:
      guard case .list(let values)? = FieldValue(listText: text) else {
        throw refusal(text.shown, "JSON lists, such as [\"a\",1]")
      }
      return try list(values)
    case .reference:
      if let referredType {
        return .text(try RecordID(referredType, text).referenceText())
      }
      guard let id = RecordID(referenceText: text) else {
        throw refusal(
          text.shown,
          "references with a type, such as Author/jane, if the import does not give the type")
      }
      return .text(try id.referenceText())
    }
  }

  private func list(_ values: [FieldValue]) throws -> SQLiteValue {
    do { return .text(try FieldValue.listText(values)) } catch let error as RecordError {
      throw ImportRefusal(text: "the column \(column.name) cannot store a list: \(error)")
    }
  }
}
