internal import SQLiteSupport
internal import SystemSupport

/// Inserts the rows of a file into a table.
struct SQLiteImport {
  /// The path of the file, for errors.
  private let path: String
  private let type: String
  private let existing: ExistingRowPolicy
  /// The types of references whose cells contain only names, by column.
  private let references: [String: String]
  private let addsColumns: Bool
  private let access: SQLiteOptions.Access
  private let connection: SQLiteConnection
  /// Whether this import creates the table.
  private var isNew = false
  /// The plan for rows of cells.
  private var cellPlan: SQLiteImportPlan?
  /// Whether the table has a conflict clause of its own; nil until it is looked up.
  private var hasConflictClause: Bool?
  /// The plans for objects, by their keys.
  private var plans: [Names: SQLiteImportPlan] = [:]

  init(
    of path: String, into type: String, _ existing: ExistingRowPolicy,
    _ references: [String: String], addsColumns: Bool, _ access: SQLiteOptions.Access,
    on connection: SQLiteConnection
  ) {
    (self.path, self.type, self.existing) = (path, type, existing)
    (self.references, self.addsColumns) = (references, addsColumns)
    (self.access, self.connection) = (access, connection)
  }

  /// Inserts rows. Must be called in a transaction.
  ///
  /// - Returns: The number of records that were inserted or updated.
  /// - Throws: An error that ends the import: a ``SQLiteError``, a ``RecordError``,
  ///   ``ImportProblems/Full``.
  mutating func insert(_ rows: ImportedRows, _ ledger: inout ImportProblems) throws -> Int {
    var problems = rows.problems
    var count = 0
    if rows.header != nil || !rows.range.isEmpty {
      let plan = try cellPlan(rows.header)
      count += try plan.insert(
        rows.cells, rows.range, isText: rows.isText, emptyIsNull: rows.emptyIsNull, &problems)
    }
    var rest = rows.objects
    while let first = rest.first {
      let names = Names(first)
      do {
        let plan = try plan(for: first, names)
        let same = rest.prefix { $0.hasKeys(of: first) && plan.accepts($0) }
        rest = rest.dropFirst(same.count)
        count += try plan.insert(same, &problems)
      } catch {
        // The table does not have its columns, and they cannot be created.
        guard let text = Self.rejection(error) else { throw error }
        problems.append(first.problem(text))
        rest = rest.dropFirst()
      }
    }
    try ledger.add(problems)
    return count
  }

  /// Returns the reason why the table rejects an object; nil if the error is not about the object.
  private static func rejection(_ error: any Error) -> String? {
    switch error {
    case let rejection as ImportRejection: rejection.text
    case let error as SQLiteError where error.kind == .invalidName: error.description
    case let error as RecordError: if case .invalid(let text) = error.reason { text } else { nil }
    default: nil
    }
  }

  /// Reports violated foreign keys that are deferred to the end of the transaction, because SQLite
  /// does not name them. Must be called at the end of the transaction.
  ///
  /// - Throws: A ``RecordError`` that names them; a ``SQLiteError``.
  func checkReferences() throws {
    guard connection.hasDeferredViolations else { return }
    let found = try connection.fetchAll(
      """
      SELECT count(DISTINCT c.rowid), l."from", c.parent FROM pragma_foreign_key_check(?1) AS c \
      JOIN pragma_foreign_key_list(?1) AS l ON l.id = c.fkid GROUP BY c.fkid, l.seq
      """, [.text(type)]
    ) { row in
      let (column, parent) = (row.text(at: 1) ?? "", row.text(at: 2) ?? "")
      return "\(max(1, row.integer(at: 0))) in \(column) to \(parent)"
    }
    // The violation may be in another table, into which a trigger has inserted rows.
    guard !found.isEmpty else { return }
    throw RecordError(
      .invalid(
        """
        foreign key violation at the end of the transaction: rows of \(type) refer to rows that do \
        not exist: \(found.joined(separator: ", "))
        """
      ))
  }

  // MARK: Plans

  private mutating func cellPlan(_ header: [String]?) throws -> SQLiteImportPlan {
    if let cellPlan { return cellPlan }
    let table: SQLiteTable
    if let header {
      try check(header)
      table = try preparedTable(for: header.map { ($0, .string("")) })
    } else if let found = try self.table() {
      table = found
    } else {
      throw RecordError(
        .invalid("no such table: \(type), and the file has no header that names its columns"))
    }
    let names = header ?? table.columns.filter(\.isWritable).map(\.name)
    for name in references.keys where !names.contains(name) {
      throw RecordError(
        .invalid("the file has no column \(name.shortText), for which a referenced type is given"))
    }
    let plan = try makePlan(names, of: table)
    cellPlan = plan
    return plan
  }

  private mutating func plan(
    for object: JSONBatch.Object, _ names: Names
  ) throws -> SQLiteImportPlan {
    if let plan = plans[names], plan.accepts(object) { return plan }
    // If a column cannot be created, the columns before it are rolled back.
    let table = try connection.savepoint { try preparedTable(for: object.fields) }
    for (name, _) in object.fields where table.column(named: name) == nil {
      throw ImportRejection(text: table.missing(name).description)
    }
    var plan = try makePlan(object.fields.map(\.key), of: table)
    plan.nulls = object.fields.indices.filter { index in
      guard object.fields[index].value == .null, table.isOwn else { return false }
      return table.column(named: object.fields[index].key)?.isUntyped ?? false
    }
    // If every object of a file has other keys, plans are hardly reused.
    if plans.count >= 1_000 { plans = [:] }
    plans[names] = plan
    return plan
  }

  private mutating func makePlan(_ names: [String], of table: SQLiteTable) throws
    -> SQLiteImportPlan
  {
    let columns = try names.map { name in
      guard let column = table.column(named: name) else { throw table.missing(name) }
      guard references[name] == nil || column.meaning == .keptReference else {
        throw RecordError(
          .invalid(
            "the column \(name.shortText) of \(table.name) does not hold .keep references"))
      }
      return try SQLiteImportColumn(column, of: table, referencesTo: references[name])
    }
    let hasConflictClause =
      try self.hasConflictClause ?? connection.hasConflictClause(table.name)
    self.hasConflictClause = hasConflictClause
    return try SQLiteImportPlan(
      table, columns, existing, hasConflictClause: hasConflictClause, on: connection)
  }

  /// The keys of an object, compared byte by byte.
  private struct Names: Hashable {
    private let names: [[UInt8]]

    init(_ object: JSONBatch.Object) { names = object.fields.map { Array($0.key.utf8) } }
  }

  private func check(_ header: [String]) throws {
    // Another program's table may have a column without a name.
    if let index = header.firstIndex(of: ""), try table()?.column(named: "") == nil {
      throw RecordFileError(
        path, "has no usable header",
        because: """
          column \(index + 1) has no name in its first line. Name it there, or remove the column, \
          including a delimiter at the end of each line
          """)
    }
    var seen: Set<[UInt8]> = []
    for name in header where !seen.insert(SQLiteName.folded(name)).inserted {
      throw RecordFileError(
        path, "has no usable header",
        because: "its first line contains the name \(name.shortText) twice")
    }
  }

  // MARK: The table

  private func table() throws -> SQLiteTable? {
    guard let table = try connection.table(type) else {
      if access == .create { return nil }
      let names = try connection.tables().joined(separator: ", ")
      throw RecordError(
        .invalid(
          "no such table: \(type) (tables: \(names.isEmpty ? "none" : names))"))
    }
    guard table.kind != .view else {
      throw RecordError(.unsupported("\(table.name) is a view, which can only be queried"))
    }
    return table
  }

  /// Returns the table. If it was created here, it may get columns for the fields.
  private mutating func preparedTable(
    for fields: [(key: String, value: FieldValue)]
  ) throws -> SQLiteTable {
    let table = try table()
    isNew = isNew || table == nil
    if let table {
      let isComplete = fields.allSatisfy { table.column(named: $0.key) != nil }
      guard table.isOwn, isComplete || isNew || addsColumns else { return table }
    }
    let values = fields.map { name, value in
      let reference = references[name].map {
        FieldValue.reference(RecordReference(RecordID($0, "")))
      }
      return (key: name, value: reference ?? value)
    }
    return try connection.table(toSave: values, as: type)
  }
}

extension SQLiteConnection {
  /// Returns whether a table has a conflict clause of its own.
  fileprivate func hasConflictClause(_ table: String) throws -> Bool {
    try fetchOne(
      "SELECT 1 FROM sqlite_schema WHERE name = ?1 AND sql LIKE '%ON%CONFLICT%'", [.text(table)]
    ) { _ in true } ?? false
  }
}

extension JSONBatch.Object {
  /// Returns whether both have the same keys in the same order, byte by byte.
  fileprivate func hasKeys(of other: JSONBatch.Object) -> Bool {
    fields.count == other.fields.count
      && zip(fields, other.fields).allSatisfy { $0.key.hasSameBytes(as: $1.key) }
  }
}
