internal import SQLiteSupport
internal import SystemSupport

/// The rows of a query, in the form of a file.
struct SQLiteExport {
  private let connection: SQLiteConnection
  private let cells: [SQLiteColumnPaths.Cell]
  private let sql: String
  private let values: [SQLiteValue]

  /// The names of the columns.
  var columns: [String] { cells.map(\.path) }
  /// The number of rows; nil if it is not known in advance.
  let total: Int?

  /// Prepares an export. Must be called in a transaction.
  ///
  /// - Parameters:
  ///   - columns: The key paths of the columns; nil for all columns of the table.
  ///   - limit: The maximum number of rows; nil for all.
  /// - Throws: A ``SQLiteError``; a ``RecordError`` if there is no such table or column, or if the
  ///   query is invalid.
  init(
    _ query: RecordQuery, columns: [String]?, limit: Int?, on connection: SQLiteConnection
  ) throws {
    if let reason = query.predicate?.impossibility { throw RecordError(.invalid(reason)) }
    guard query.zone == .default else {
      throw RecordError(
        .unsupported("no zone \(query.zone.name): SQLite has only the default zone"))
    }
    guard let table = try connection.table(query.type) else {
      let names = try connection.tables().joined(separator: ", ")
      throw RecordError(
        .invalid(
          "no such table: \(query.type) (tables: \(names.isEmpty ? "none" : names))"))
    }
    let paths = columns ?? table.columns.filter { !$0.isHidden }.map(\.name)
    try Self.check(paths, of: table, connection.columnLimit)
    var finder = SQLiteColumnPaths(connection)
    cells = try paths.map { try finder.cell($0, of: table) }
    var conditions = SQLiteConditions(table)
    let condition = try query.predicate.map { try conditions.condition($0) }
    let order = try SQLiteOrder(query.distinctOrder, of: table)
    try conditions.check(for: connection, order)
    var sql = "SELECT \(cells.map(\.expression).joined(separator: ", "))"
    sql += " FROM \(table.sql.table) AS t"
    if let condition { sql += " WHERE \(condition)" }
    if !order.terms.isEmpty { sql += " ORDER BY \(order.sql)" }
    if let limit { sql += " LIMIT \(limit)" }
    (self.connection, self.sql, values) = (connection, sql, conditions.values)
    total = try table.kind == .table && condition == nil ? connection.count(table, limit) : nil
  }

  private static func check(_ paths: [String], of table: SQLiteTable, _ limit: Int) throws {
    guard !paths.isEmpty else {
      throw RecordError(
        .invalid("an export of \(table.name) needs at least 1 column, and none is named"))
    }
    guard paths.count <= limit else {
      throw RecordError(
        .invalid(
          """
          \(paths.count) columns are named, but SQLite returns at most \(limit): export them to \
          several files
          """
        ))
    }
    var seen: Set<[UInt8]> = []
    for path in paths where !seen.insert(Array(path.utf8)).inserted {
      throw RecordError(.invalid("the column \(path) is named twice"))
    }
  }

  /// Writes the file.
  ///
  /// - Parameters:
  ///   - formatter: The format of the file.
  ///   - write: Consumes the next bytes.
  ///   - report: Called from time to time with the number of rows that have been written.
  /// - Returns: The number of rows.
  /// - Throws: A ``SQLiteError``; a ``FieldValueError`` with row and column for a value that the
  ///   file cannot contain; errors of the formatter and of `write`.
  func write(
    as formatter: some RecordFormatter, _ write: (inout [UInt8]) throws -> Void,
    report: (Int) -> Void
  ) throws -> Int {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.blockSize * 2)
    try formatter.appendHeader(for: columns, to: &bytes)
    let appendRow = rowAppender(for: formatter)
    let statement = try connection.makeStatement(sql)
    try statement.bind(values)
    var count = 0
    while try statement.step() {
      if count > 0 { formatter.appendDelimiter(to: &bytes) }
      do { try appendRow(statement, &bytes) } catch let error as FieldValueError {
        throw error.at(row: count + 1)
      }
      count += 1
      if bytes.count >= Self.blockSize {
        try write(&bytes)
        report(count)
      }
    }
    try formatter.appendFooter(for: columns, after: count, to: &bytes)
    try write(&bytes)
    report(count)
    return count
  }

  private static let blockSize = 1 << 18

  private typealias RowAppender = (SQLiteStatement, inout [UInt8]) throws -> Void

  /// Returns a closure that appends a row. Formats of this module read cells directly from SQLite's
  /// memory; other formats get values.
  private func rowAppender(for formatter: some RecordFormatter) -> RowAppender {
    switch formatter {
    case let csv as CSVFormatter: cellAppender(for: csv.cellWriter(for: columns))
    case let json as JSONFormatter: cellAppender(for: json.cellWriter(for: columns))
    case let lines as JSONLinesFormatter: cellAppender(for: lines.cellWriter(for: columns))
    default: valueAppender(for: formatter)
    }
  }

  private func cellAppender(for writer: some CellWriter) -> RowAppender {
    let cells = cells
    return { row, bytes in
      for (index, cell) in cells.enumerated() {
        try unsafe row.withCell(cell, at: index) { cell throws(FieldValueError) in
          try unsafe writer.append(cell, at: index, to: &bytes)
        } orValue: { value throws(FieldValueError) in
          try writer.append(value, at: index, to: &bytes)
        }
      }
    }
  }

  private func valueAppender(for formatter: some RecordFormatter) -> RowAppender {
    let (columns, cells) = (columns, cells)
    return { row, bytes in
      let values = try cells.enumerated().map { index, cell in
        let value = row.value(of: cell, at: index)
        let written = try formatter.transform(value, of: cell.path)
        // A changed value is not checked: the formatter has handled it.
        if written == value { try row.checkText(cell, at: index) }
        return written
      }
      try formatter.append(values, for: columns, to: &bytes)
    }
  }
}

extension SQLiteConnection {
  fileprivate func count(_ table: SQLiteTable, _ limit: Int?) throws -> Int? {
    let rows = "SELECT 1 FROM \(table.sql.table)"
    let some = limit.map { "(\(rows) LIMIT \($0))" }
    return try fetchOne("SELECT count(*) FROM \(some ?? table.sql.table)") {
      Int($0.integer(at: 0))
    }
  }
}

extension SQLiteStatement {
  /// Returns the value of a column in the current row for the file.
  ///
  /// An integer that is the key of another table stays an integer, as in that table.
  fileprivate func value(of cell: SQLiteColumnPaths.Cell, at index: Int) -> FieldValue {
    if cell.isOfBytes, !isNull(at: index) { return .bytes(bytes(at: index)) }
    let value = value(at: index)
    if case (.foreignKey, .integer(let number)) = (cell.meaning, value) { return .integer(number) }
    return cell.meaning.fieldValue(value)
  }

  /// Passes a body the cell of a column in SQLite's memory, or its value if the file has another
  /// form of it.
  @inline(__always)
  fileprivate func withCell(
    _ cell: SQLiteColumnPaths.Cell, at index: Int,
    _ body: (FormattedCell) throws(FieldValueError) -> Void,
    orValue: (FieldValue) throws(FieldValueError) -> Void
  ) throws(FieldValueError) {
    let isBlob: Bool
    switch storageClass(at: index) {
    case .null: return try unsafe body(.null)
    case .integer where !cell.isOfBytes: return try unsafe body(.integer(integer(at: index)))
    case .real where !cell.isOfBytes: return try unsafe body(.double(double(at: index)))
    case .integer, .real, .text: isBlob = false
    case .blob: isBlob = true
    }
    // The bytes are valid until the next step, and the bodies end before.
    let bytes = unsafe unsafeBytes(at: index, isBlob: isBlob)
    if isBlob || cell.isOfBytes { return try unsafe body(.bytes(bytes)) }
    let text = unsafe Span<UInt8>(_unsafeBytes: bytes)
    guard text.isText else { throw Self.invalidText(text, cell) }
    switch cell.meaning {
    case .list, .keptReference: try orValue(value(of: cell, at: index))
    case .plain, .date, .foreignKey: try unsafe body(.text(bytes))
    }
  }

  /// Checks the encoding of a cell.
  ///
  /// - Throws: A ``FieldValueError`` if the cell is text that is not UTF-8.
  fileprivate func checkText(_ cell: SQLiteColumnPaths.Cell, at index: Int) throws {
    guard storageClass(at: index) == .text, !cell.isOfBytes else { return }
    let text = unsafe Span<UInt8>(_unsafeBytes: unsafeBytes(at: index, isBlob: false))
    if !text.isText { throw Self.invalidText(text, cell) }
  }

  /// Text that is not UTF-8 is an error: in base64, it would be imported as other text.
  private static func invalidText(_ bytes: Span<UInt8>, _ cell: SQLiteColumnPaths.Cell)
    -> FieldValueError
  {
    var found: [UInt8] = []
    found.append(bytes)
    return FieldValueError(
      .bytes(found), isNot: "text in UTF-8: repair or transform it, or leave out the column"
    ).at(cell.path)
  }
}
