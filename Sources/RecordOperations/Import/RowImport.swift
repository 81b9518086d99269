internal import CompositeOperations
internal import SystemSupport

/// Inserts the rows of a file into a table of any database.
struct RowImport<Target: ImportTarget> {
  /// A plan for objects with the same keys.
  private struct ObjectPlan {
    let plan: Target.Plan
    /// The indices of columns that have had no value, and therefore no type. The first value
    /// determines it.
    let nulls: [Int]

    /// Returns whether an object with these columns has only nulls for the columns without a type.
    func accepts(_ object: JSONBatch.Object) -> Bool {
      nulls.allSatisfy { object.fields[$0].value == .null }
    }
  }

  private let target: Target
  /// The path of the file, for errors.
  private let path: String
  private let type: String
  private let existing: ExistingRowPolicy
  /// The types of references whose cells contain only names, by column.
  private let references: [String: String]
  private let addsColumns: Bool
  /// Whether this import creates the table.
  private var isNew = false
  /// The plan for rows of cells.
  private var cellPlan: Target.Plan?
  /// The plans for objects, by their keys.
  private var plans: [Names: ObjectPlan] = [:]

  init(
    of path: String, into type: String, _ existing: ExistingRowPolicy,
    _ references: [String: String], addsColumns: Bool, on target: Target
  ) {
    (self.path, self.type, self.existing) = (path, type, existing)
    (self.references, self.addsColumns, self.target) = (references, addsColumns, target)
  }

  /// Inserts all rows, in one transaction or several.
  ///
  /// - Parameter rowsPerTransaction: The number of rows of each transaction; nil for one
  ///   transaction.
  /// - Throws: A ``RecordImportError`` if there are too many bad rows, or after a transaction was
  ///   committed; an error of the target; a ``RecordFileError``; `CancellationError`.
  mutating func load(
    _ source: inout ImportSource, _ badRows: BadRowPolicy, rowsPerTransaction: Int?,
    _ context: OperationContext
  ) throws -> ImportedFile {
    var ledger = ImportProblems(badRows)
    var committed = 0
    do {
      // Read outside of a transaction: a pipe may block, and other writers should not wait for it.
      var next = try source.next(atMost: rowsPerTransaction ?? .max)
      while next != nil {
        committed += try target.transaction {
          var remaining = rowsPerTransaction ?? .max
          var count = 0
          while let rows = next {
            // If all rows are bad, no statement runs that would notice a cancellation.
            try target.check()
            remaining -= rows.count
            count += try insert(rows, &ledger)
            context.report(source.byteCount, of: source.size, unit: "bytes")
            if remaining == 0 { break }
            next = try source.next(atMost: remaining)
          }
          try target.checkDeferredConstraints()
          return count
        }
        if next != nil { next = try source.next(atMost: rowsPerTransaction ?? .max) }
      }
    } catch let error as ImportProblems.Full {
      throw RecordImportError(path, error.problems, recordCount: committed, cause: nil)
    } catch  where committed > 0 {
      throw RecordImportError(
        path, ledger.problems, recordCount: committed, cause: target.translated(error))
    }
    return ImportedFile(path: path, recordCount: committed, problems: ledger.problems)
  }

  /// Inserts rows. Must be called in a transaction.
  ///
  /// - Returns: The number of records that were inserted or updated.
  /// - Throws: An error that ends the import: an error of the target, ``ImportProblems/Full``.
  private mutating func insert(
    _ rows: ImportedRows, _ ledger: inout ImportProblems
  ) throws -> Int {
    var problems = rows.problems
    var count = 0
    if rows.header != nil || !rows.range.isEmpty {
      count += try cellPlan(rows.header).insertCells(of: rows, &problems)
    }
    var rest = rows.objects
    while let first = rest.first {
      let names = Names(first)
      do {
        let plan = try plan(for: first, names)
        let same = rest.prefix { $0.hasKeys(of: first) && plan.accepts($0) }
        rest = rest.dropFirst(same.count)
        count += try plan.plan.insert(same, &problems)
      } catch {
        // The table does not have its columns, and they cannot be created.
        guard let text = target.rejection(error) else { throw error }
        problems.append(first.problem(text))
        rest = rest.dropFirst()
      }
    }
    count += try target.insertCollected(&problems)
    try ledger.add(problems)
    return count
  }

  // MARK: Plans

  private mutating func cellPlan(_ header: [String]?) throws -> Target.Plan {
    if let cellPlan { return cellPlan }
    let table: Target.Table
    if let header {
      try check(header)
      table = try preparedTable(for: header.map { ($0, .string("")) })
    } else if let found = try target.table() {
      table = found
    } else {
      throw RecordError(
        .invalid("no such table: \(type), and the file has no header that names its columns"))
    }
    let names = header ?? table.writableColumns
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
  ) throws -> ObjectPlan {
    if let plan = plans[names], plan.accepts(object) { return plan }
    let table = try preparedTable(for: object.fields)
    for (name, _) in object.fields where !table.hasColumn(name) {
      throw ImportRejection(text: table.missing(name).description)
    }
    let nulls = object.fields.indices.filter { index in
      guard object.fields[index].value == .null, table.isOwn else { return false }
      return table.isUntyped(object.fields[index].key)
    }
    let plan = ObjectPlan(
      plan: try makePlan(object.fields.map(\.key), of: table), nulls: nulls)
    // If every object of a file has other keys, plans are hardly reused.
    if plans.count >= 1_000 { plans = [:] }
    plans[names] = plan
    return plan
  }

  private func makePlan(_ names: [String], of table: Target.Table) throws -> Target.Plan {
    for name in names {
      guard table.hasColumn(name) else { throw table.missing(name) }
      guard references[name] == nil || table.isKeptReference(name) else {
        throw RecordError(
          .invalid(
            "the column \(name.shortText) of \(table.name) does not hold .keep references"))
      }
    }
    return try target.plan(for: names, of: table, references: references, existing: existing)
  }

  /// The keys of an object, compared byte by byte.
  private struct Names: Hashable {
    private let names: [[UInt8]]

    init(_ object: JSONBatch.Object) { names = object.fields.map { Array($0.key.utf8) } }
  }

  private func check(_ header: [String]) throws {
    // Another program's table may have a column without a name.
    if let index = header.firstIndex(of: ""), try target.table()?.hasColumn("") != true {
      throw RecordFileError(
        path, "has no usable header",
        because: """
          column \(index + 1) has no name in its first line. Name it there, or remove the column, \
          including a delimiter at the end of each line
          """)
    }
    var seen: Set<[UInt8]> = []
    for name in header where !seen.insert(target.folded(name)).inserted {
      throw RecordFileError(
        path, "has no usable header",
        because: "its first line contains the name \(name.shortText) twice")
    }
  }

  /// Returns the table. If it was created here, it may get columns for the fields.
  private mutating func preparedTable(
    for fields: [(key: String, value: FieldValue)]
  ) throws -> Target.Table {
    let table = try target.table()
    isNew = isNew || table == nil
    if let table {
      let isComplete = fields.allSatisfy { table.hasColumn($0.key) }
      guard table.isOwn, isComplete || isNew || addsColumns else { return table }
    }
    let values = fields.map { name, value in
      let reference = references[name].map {
        FieldValue.reference(RecordReference(RecordID($0, "")))
      }
      return (key: name, value: reference ?? value)
    }
    return try target.table(creating: values)
  }
}

extension JSONBatch.Object {
  /// Returns whether both have the same keys in the same order, byte by byte.
  fileprivate func hasKeys(of other: JSONBatch.Object) -> Bool {
    fields.count == other.fields.count
      && zip(fields, other.fields).allSatisfy { $0.key.hasSameBytes(as: $1.key) }
  }
}
