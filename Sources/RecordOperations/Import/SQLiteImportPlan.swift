internal import SQLiteSupport

/// Inserts rows with the same columns: many rows in one statement or, if that fails, one by one.
struct SQLiteImportPlan: ImportPlan {
  /// The approximate number of values in a statement. More are slower.
  private static let valuesPerStatement = 500
  /// The number of statements for many rows that are rolled back together when one of them fails.
  private static let statementsPerBlock = 10

  private let connection: SQLiteConnection
  private let columns: [SQLiteImportColumn]
  /// The columns of foreign keys.
  private let references: [String]
  private let rowsPerStatement: Int
  /// Whether a row that is not inserted was dropped by a trigger.
  private let detectsDropped: Bool
  private let rejectsExisting: Bool
  private let insertOneSQL: String
  /// The parts of a statement for many rows: its start, each row, its end.
  private let parts: (start: String, row: String, end: String)

  /// - Parameter hasConflictClause: Whether the table has a conflict clause of its own, which would
  ///   silently replace or drop rows.
  /// - Throws: A ``RecordError`` if these columns do not identify existing rows; an
  ///   ``ImportRejection`` if there are no columns.
  init(
    _ table: SQLiteTable, _ columns: [SQLiteImportColumn], _ existing: ExistingRowPolicy,
    hasConflictClause: Bool, on connection: SQLiteConnection
  ) throws {
    (self.connection, self.columns) = (connection, columns)
    references = table.foreignKeys.flatMap(\.columns)
    // In one statement, a row could refer to a later one, depending on where the statement ends.
    let isSelfReferencing = table.foreignKeys.contains {
      SQLiteName.folded($0.parent) == SQLiteName.folded(table.name)
    }
    rowsPerStatement =
      isSelfReferencing ? 1 : max(1, Self.valuesPerStatement / max(1, columns.count))
    rejectsExisting = existing == .refused
    detectsDropped = rejectsExisting && table.kind == .table
    var names = columns.map(\.column.quoted)
    var places = columns.map { _ in "?" }
    if table.isOwn, case .text(let key, _) = table.key,
      !columns.contains(where: { $0.column.name == key })
    {
      names.append(try SQLiteName.quoted(key))
      places.append("lower(hex(randomblob(16)))")
    }
    if names.isEmpty { throw ImportRejection.noValues }
    let verb = hasConflictClause ? "INSERT OR ABORT" : "INSERT"
    parts = (
      "\(verb) INTO \(table.sql.table) (\(names.joined(separator: ", "))) VALUES ",
      "(\(places.joined(separator: ", ")))", try Self.end(table, columns, existing)
    )
    insertOneSQL = parts.start + parts.row + parts.end
  }

  /// Computed on demand: it is long, and not needed if the columns change from row to row.
  private var insertManySQL: String {
    let rows = Array(repeating: parts.row, count: rowsPerStatement)
    return parts.start + rows.joined(separator: ", ") + parts.end
  }

  private static func end(
    _ table: SQLiteTable, _ columns: [SQLiteImportColumn], _ existing: ExistingRowPolicy
  ) throws -> String {
    if existing == .refused { return "" }
    let keys = table.columns.filter { $0.keyPosition > 0 }.map(\.name)
    try existing.check(columns.map(\.column.name), identifyRowsOf: table.name, by: keys)
    let target = " ON CONFLICT (\(try keys.map(SQLiteName.quoted).joined(separator: ", ")))"
    let others = columns.map(\.column).filter { !keys.contains($0.name) }
    if existing == .kept || others.isEmpty { return "\(target) DO NOTHING" }
    let settings = others.map { "\($0.quoted) = excluded.\($0.quoted)" }
    // An equal row stays unchanged, with its tag. Comparing row values avoids a thousand
    // comparisons joined by OR, which SQLite rejects as too deeply nested.
    let old = others.map(\.quoted).joined(separator: ", ")
    let new = others.map { "excluded.\($0.quoted)" }.joined(separator: ", ")
    return
      "\(target) DO UPDATE SET \(settings.joined(separator: ", ")) WHERE (\(old)) IS NOT (\(new))"
  }

  // MARK: Rows

  func insertCells(of rows: ImportedRows, _ problems: inout [RowProblem]) throws -> Int {
    let (batch, isText, emptyIsNull) = (rows.cells, rows.isText, rows.emptyIsNull)
    return try unsafe batch.bytes.withUnsafeBytes { bytes in
      try insert(rows.range, &problems, batch.problem) { row, statement, place in
        let cells = batch.cellRange(of: row)
        guard cells.count == columns.count else {
          throw ImportRejection.cellCount(cells.count, expected: columns.count)
        }
        for index in columns.indices {
          let cell = batch.cells[cells.lowerBound + index]
          let column = columns[index]
          if cell.range.isEmpty,
            column.conversion.isNull(isQuoted: cell.isQuoted, emptyIsNull: emptyIsNull)
          {
            try statement.bindNull(at: place + index)
          } else {
            // The bytes stay valid until the statement has run, and nothing else uses the bindings.
            let text = unsafe UnsafeRawBufferPointer(rebasing: bytes[cell.range])
            try unsafe column.bind(
              text, isText: isText, staysInPlace: true, at: place + index, of: statement)
          }
        }
      }
    }
  }

  func insert(
    _ objects: ArraySlice<JSONBatch.Object>, _ problems: inout [RowProblem]
  ) throws -> Int {
    let problem = { objects[$0].problem($1) }
    return try insert(objects.indices, &problems, problem) { row, statement, place in
      for (index, field) in objects[row].fields.enumerated() {
        try columns[index].bind(field.value, at: place + index, of: statement)
      }
    }
  }

  /// Makes a problem of a row.
  private typealias ProblemMaker = (_ row: Int, _ text: String) -> RowProblem

  /// Binds a row to a statement, from a parameter on.
  private typealias RowBinder = (_ row: Int, SQLiteStatement, _ place: Int) throws -> Void

  private func insert(
    _ rows: Range<Int>, _ problems: inout [RowProblem], _ problem: ProblemMaker,
    _ bind: RowBinder
  ) throws -> Int {
    var count = 0
    var start = rows.lowerBound
    while start < rows.upperBound {
      let block = start..<min(start + rowsPerStatement * Self.statementsPerBlock, rows.upperBound)
      var rejected: [RowProblem] = []
      do {
        count += try connection.savepoint { try insertTogether(block, &rejected, problem, bind) }
      } catch  where connection.isInTransaction && Self.isOfRows(error) {
        rejected = []
        count += try insertEach(block, &rejected, problem, bind)
      }
      problems += rejected
      start = block.upperBound
    }
    return count
  }

  private static func isOfRows(_ error: any Error) -> Bool {
    error is DroppedRows || (error as? SQLiteError)?.isOfStatement == true
  }

  private func insertTogether(
    _ rows: Range<Int>, _ problems: inout [RowProblem], _ problem: ProblemMaker, _ bind: RowBinder
  ) throws -> Int {
    var count = 0
    // Bound rows. Those that do not fill a statement are inserted one by one at the end.
    var waiting: [Int] = []
    if rows.count < rowsPerStatement {
      return try insertSingly(rows, &problems, problem, bind)
    }
    try connection.withCachedStatement(insertManySQL) { statement in
      for row in rows {
        do { try bind(row, statement, waiting.count * columns.count + 1) } catch let rejection
          as ImportRejection
        {
          problems.append(problem(row, rejection.text))
          continue
        }
        waiting.append(row)
        if waiting.count == rowsPerStatement {
          try statement.run()
          let inserted = connection.changeCount
          // Inserting the rows one by one shows which row was dropped.
          if detectsDropped, inserted < waiting.count { throw DroppedRows() }
          count += inserted
          waiting.removeAll(keepingCapacity: true)
        }
      }
    }
    if waiting.isEmpty { return count }
    return try count + insertSingly(waiting, &problems, problem, bind)
  }

  /// Inserts rows with one statement each. Fails if one fails.
  private func insertSingly(
    _ rows: some Sequence<Int>, _ problems: inout [RowProblem], _ problem: ProblemMaker,
    _ bind: RowBinder
  ) throws -> Int {
    var count = 0
    try connection.withCachedStatement(insertOneSQL) { statement in
      for row in rows {
        do { try bind(row, statement, 1) } catch let rejection as ImportRejection {
          problems.append(problem(row, rejection.text))
          continue
        }
        try statement.run()
        let inserted = connection.changeCount
        if detectsDropped, inserted == 0 { throw DroppedRows() }
        count += inserted
      }
    }
    return count
  }

  /// A trigger has dropped rows.
  private struct DroppedRows: Error {}

  private func insertEach(
    _ rows: Range<Int>, _ problems: inout [RowProblem], _ problem: ProblemMaker, _ bind: RowBinder
  ) throws -> Int {
    var count = 0
    try connection.withCachedStatement(insertOneSQL) { statement in
      for row in rows {
        do {
          try connection.savepoint {
            try bind(row, statement, 1)
            try statement.run()
          }
          let inserted = connection.changeCount
          if detectsDropped, inserted == 0 {
            throw ImportRejection.discarded
          }
          count += inserted
        } catch let rejection as ImportRejection {
          problems.append(problem(row, rejection.text))
        } catch let error as SQLiteError where error.isOfStatement && connection.isInTransaction {
          problems.append(problem(row, text(of: error)))
        }
      }
    }
    return count
  }

  private func text(of error: SQLiteError) -> String {
    if rejectsExisting, error.isPrimaryKeyViolation {
      return "\(error.translated)\(ImportRejection.existing)"
    }
    // SQLite does not name the foreign key.
    guard error.isForeignKeyViolation else { return "\(error.translated)" }
    return """
      foreign key violation: a referenced row does not exist \
      (\(references.joined(separator: ", ")))
      """
  }
}
