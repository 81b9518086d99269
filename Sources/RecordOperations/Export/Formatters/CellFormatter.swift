/// A formatter that writes cells directly from a database, without creating a `FieldValue` for
/// each. It writes the same bytes for both.
///
/// ```text
/// let writer = formatter.cellWriter(for: columns)
/// for column in columns.indices {
///   try unsafe writer.append(statement.cell(at: column), at: column, to: &bytes)
/// }
/// ```
///
/// Values are not transformed, so ``TransformedFormatter`` does not conform.
package protocol CellFormatter: RecordFormatter {
  associatedtype Writer: CellWriter

  /// Returns a writer for the records of a file with these columns.
  func cellWriter(for columns: [String]) -> Writer
}

/// A writer of records, cell by cell.
package protocol CellWriter: Sendable {
  var columns: [String] { get }

  /// Appends a cell with the text of the record around it: before the first cell, between cells or
  /// after the last one. A record has one cell for each column, in their order.
  ///
  /// - Throws: A ``FieldValueError`` that names the column if the format cannot represent the
  ///   value.
  func append(
    _ cell: FormattedCell, at column: Int, to bytes: inout [UInt8]
  ) throws(FieldValueError)
}

extension CellFormatter {
  /// Appends a record.
  ///
  /// - Throws: A ``FieldValueError`` that names the column if the format cannot represent a value.
  /// - Precondition: There is at least one column, and one value for each column.
  public func append(
    _ values: [FieldValue], for columns: [String], to bytes: inout [UInt8]
  ) throws {
    precondition(!columns.isEmpty, "`columns` must not be empty")
    precondition(
      values.count == columns.count,
      "`values` must have one value for each of \(columns.count) columns (was \(values.count))")
    let writer = cellWriter(for: columns)
    for (column, value) in values.enumerated() {
      try writer.append(value, at: column, to: &bytes)
    }
  }
}

extension CellWriter {
  func append(_ value: FieldValue, at column: Int, to bytes: inout [UInt8]) throws(FieldValueError)
  {
    switch value {
    case .null: try unsafe append(.null, at: column, to: &bytes)
    case .integer(let number): try unsafe append(.integer(number), at: column, to: &bytes)
    case .double(let number): try unsafe append(.double(number), at: column, to: &bytes)
    case .bytes(let content):
      try unsafe content.withCell { cell throws(FieldValueError) in
        try unsafe append(.bytes(cell), at: column, to: &bytes)
      }
    case .list(let values):
      let list: [UInt8]
      do { list = try FieldValue.json(values) } catch { throw error.at(columns[column]) }
      try unsafe list.withCell { cell throws(FieldValueError) in
        try unsafe append(.json(cell), at: column, to: &bytes)
      }
    case .string(let text): try append(text, at: column, to: &bytes)
    case .reference(let reference): try append(reference.cellText, at: column, to: &bytes)
    case .date(let date):
      do { try append(date.formatted, at: column, to: &bytes) } catch {
        throw error.at(columns[column])
      }
    }
  }

  private func append(
    _ text: String, at column: Int, to bytes: inout [UInt8]
  ) throws(FieldValueError) {
    try unsafe Array(text.utf8).withCell { cell throws(FieldValueError) in
      try unsafe append(.text(cell), at: column, to: &bytes)
    }
  }
}

extension [UInt8] {
  fileprivate func withCell(
    _ body: (UnsafeRawBufferPointer) throws(FieldValueError) -> Void
  ) throws(FieldValueError) {
    // The buffer is valid while `body` runs.
    try unsafe span.withUnsafeBytes(body)
  }
}

/// A cell whose buffer belongs to a database. It must not outlive the buffer, which is not checked.
@unsafe package enum FormattedCell {
  case null
  case integer(Int64)
  case double(Double)
  /// UTF-8.
  case text(UnsafeRawBufferPointer)
  case bytes(UnsafeRawBufferPointer)
  /// A list that is already JSON.
  case json(UnsafeRawBufferPointer)
}
