/// Puts rows of a file into a table.
struct SQLiteImport {
  /// Where the file is, for errors.
  private let path: String
  private let type: String
  private let existing: ExistingRowPolicy
  /// The types to which references lead whose cells have names alone, by column.
  private let references: [String: String]
  private let addsColumns: Bool
  private let access: SQLiteOptions.Access
  private let connection: SQLiteConnection
  /// Whether the table is made by this import.
  private var isNew = false
  /// How rows are put in, by the names of their columns.
  private var plans: [[String]: SQLiteImportPlan] = [:]
  /// The last one of them, which most rows need again.
  private var lastPlan: (names: [String], plan: SQLiteImportPlan)?

  init(
    of path: String, into type: String, _ existing: ExistingRowPolicy,
    _ references: [String: String], addsColumns: Bool, _ access: SQLiteOptions.Access,
    on connection: SQLiteConnection
  ) {
    (self.path, self.type, self.existing) = (path, type, existing)
    (self.references, self.addsColumns) = (references, addsColumns)
    (self.access, self.connection) = (access, connection)
  }

  /// Puts rows in. It is called within a transaction.
  ///
  /// - Returns: How many records were put in or updated.
  /// - Throws: What ends the import: a ``SQLiteError``, a ``RecordError``, ``ImportLedger/Full``.
  mutating func insert(_ rows: ImportedRows, _ ledger: inout ImportLedger) throws -> Int {
    var problems = rows.problems
    var count = 0
    if rows.header != nil || !rows.range.isEmpty {
      let plan = try planOfCells(rows.header)
      count += try plan.insert(rows.cells, rows.range, emptyIsNull: rows.emptyIsNull, &problems)
    }
    var rest = rows.objects
    while let first = rest.first {
      let names = first.fields.map(\.key)
      let same = rest.prefix {
        $0.fields.count == names.count && zip($0.fields, names).allSatisfy { $0.key == $1 }
      }
      rest = rest.dropFirst(same.count)
      do {
        count += try plan(ofObject: first, names).insert(same, &problems)
      } catch let error as ImportRefusal {
        // Its columns are none of the table.
        problems += same.map { RowProblem(line: $0.line, error.text) }
      }
    }
    try ledger.add(problems)
    return count
  }

  // MARK: Plans

  private mutating func planOfCells(_ header: [String]?) throws -> SQLiteImportPlan {
    if let lastPlan { return lastPlan.plan }
    var table = try table()
    guard let header else {
      guard let table else {
        throw RecordError(
          .invalid(
            "there is no table \(type), and the file has no header that names its columns"))
      }
      let names = table.columns.filter(\.isWritable).map(\.name)
      return try remember(names, of: table)
    }
    try check(header)
    if takesColumns(of: table) {
      table = try madeTable(for: header.map { ($0, valueInCSV(of: $0)) })
    }
    return try remember(header, of: table)
  }

  private mutating func plan(
    ofObject object: JSONBatch.Object, _ names: [String]
  ) throws -> SQLiteImportPlan {
    if let lastPlan, lastPlan.names == names { return lastPlan.plan }
    if let plan = plans[names] {
      lastPlan = (names, plan)
      return plan
    }
    var table = try table()
    if takesColumns(of: table) {
      table = try madeTable(for: object.fields)
    } else if let table {
      for name in names where table.column(named: name) == nil {
        throw ImportRefusal(text: table.missing(name).description)
      }
    }
    return try remember(names, of: table)
  }

  private mutating func remember(
    _ names: [String], of table: SQLiteTable?
  ) throws -> SQLiteImportPlan {
    guard let table else { throw RecordError(.unknownRecord) }
    let columns = try names.map { name in
      guard let column = table.column(named: name) else { throw table.missing(name) }
      return try SQLiteImportColumn(column, of: table, referencesTo: references[name])
    }
    for name in references.keys where table.column(named: name)?.meaning != .keptReference {
      throw RecordError(
        .invalid(
          "the column \(name.shown) of \(table.name) is none of references whose types have to be said"
        ))
    }
    let plan = try SQLiteImportPlan(table, columns, existing, on: connection)
    plans[names] = plan
    lastPlan = (names, plan)
    return plan
  }

  /// Whether a table gets the columns that it has not.
  private mutating func takesColumns(of table: SQLiteTable?) -> Bool {
    isNew = isNew || table == nil
    return isNew || addsColumns && table?.isOwn == true
  }

  /// A value of the kind of which the columns of a new table are.
  private func valueInCSV(of column: String) -> FieldValue {
    references[column].map { .reference(RecordReference(RecordID($0, ""))) } ?? .string("")
  }

  private func check(_ header: [String]) throws {
    var seen: Set<[UInt8]> = []
    for name in header where !seen.insert(SQLiteName.folded(name)).inserted {
      throw RecordFileError(
        path, "has no header",
        because: "its first line has the name \(name.shown) twice")
    }
  }

  // MARK: The table

  private func table() throws -> SQLiteTable? {
    guard let table = try connection.table(type) else {
      if access == .create { return nil }
      let names = try connection.tables().joined(separator: ", ")
      throw RecordError(
        .invalid(
          "there is no table \(type); \(names.isEmpty ? "there is none at all" : "there are: \(names)")"
        ))
    }
    guard table.kind != .view else {
      throw RecordError(.unsupported("\(table.name) is a view, which can only be queried"))
    }
    return table
  }

  /// One that was made for records, with columns for some fields.
  private func madeTable(for fields: [(key: String, value: FieldValue)]) throws -> SQLiteTable {
    let key = try connection.table(type)?.key ?? .own
    let others = fields.filter { !key.isName($0.key) }
    return try connection.table(
      toSave: Dictionary(others.map { ($0.key, $0.value) }) { first, _ in first }, as: type)
  }
}
