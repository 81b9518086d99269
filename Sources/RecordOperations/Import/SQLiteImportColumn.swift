internal import SQLiteSupport
internal import SystemSupport

/// Binds the values of a file to a column.
///
/// A class because it is used for every cell: a structure would be copied each time.
final class SQLiteImportColumn: Sendable {
  let column: SQLiteColumn
  private let kind: ImportColumn.Kind
  let conversion: ImportColumn

  /// - Parameter type: The type of its references; nil if the cells contain it.
  /// - Throws: A ``RecordError`` if the column cannot be written.
  init(_ column: SQLiteColumn, of table: SQLiteTable, referencesTo type: String?) throws {
    guard column.isWritable else { throw RecordError.computedColumn(column.name, of: table.name) }
    self.column = column
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
    conversion = ImportColumn(
      column.name, kind, declaredType: column.declaredType, referencesTo: type,
      holdsRecordNames: table.isOwn && column.keyPosition > 0)
  }

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
      if let number = unsafe ImportColumn.infinity(bytes) {
        return try statement.bind(number, at: index)
      }
      try unsafe conversion.checkRange(bytes)
      fallthrough
    case .text, .any:
      guard unsafe isText || Span<UInt8>(_unsafeBytes: bytes).isText else {
        throw conversion.notText
      }
      try unsafe statement.bindText(bytes, at: index, isCopied: !staysInPlace)
    case .integer:
      guard let number = unsafe Int64(decimal: bytes) else {
        return try statement.bind(unsafe conversion.integer(bytes), at: index)
      }
      try statement.bind(number, at: index)
    case .real:
      guard let number = unsafe Double(shortDecimal: bytes) else {
        return try statement.bind(unsafe conversion.double(bytes), at: index)
      }
      try statement.bind(number, at: index)
    case .bytes, .date, .list, .reference, .single, .boolean, .uuid, .enumeration, .other:
      try bind(unsafe conversion.value(ofCell: bytes), at: index, statement)
    }
  }

  /// Binds a JSON value.
  ///
  /// - Throws: An ``ImportRejection`` if the column does not take the value; a ``SQLiteError`` if it
  ///   is too large.
  func bind(_ value: FieldValue, at index: Int, of statement: SQLiteStatement) throws {
    guard case .string(var text) = value else {
      return try bind(conversion.value(ofJSON: value), at: index, statement)
    }
    try text.withUTF8 { bytes in
      try unsafe bind(
        UnsafeRawBufferPointer(bytes), isText: true, staysInPlace: false, at: index,
        of: statement)
    }
  }

  /// Binds a converted value.
  private func bind(_ value: FieldValue, at index: Int, _ statement: SQLiteStatement) throws {
    switch value {
    case .null: try statement.bindNull(at: index)
    case .integer(let number): try statement.bind(number, at: index)
    case .double(let number): try statement.bind(number, at: index)
    case .string(let text): try statement.bind(.text(text), at: index)
    case .bytes(let bytes): try statement.bind(.blob(bytes), at: index)
    case .date(let date): try statement.bind(.text(date.text), at: index)
    case .reference(let reference):
      try statement.bind(.text(reference.id.referenceText()), at: index)
    case .list(let values):
      do { try statement.bind(.text(FieldValue.listText(values)), at: index) } catch let error
        as RecordError
      {
        throw ImportRejection(text: "the column \(column.name) cannot store a list: \(error)")
      }
    }
  }
}
