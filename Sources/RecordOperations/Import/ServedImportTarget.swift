internal import SystemSupport

/// The table of an import, in a database at an address.
///
/// Rows are collected and inserted together, because each request waits for the server.
final class ServedImportTarget: ImportTarget {
  /// The maximum number of rows of a request.
  private static let rowLimit = 2_000

  private let writer: any ServedRowWriter
  private let creates: Bool
  private var existing = ExistingRowPolicy.refused
  /// The collected rows with their places in the file.
  private var rows: [ServedRow] = []
  private var places: [RowPlace] = []
  /// The result of the requests since the last call of ``insertCollected(_:)``.
  private var count = 0
  private var problems: [RowProblem] = []

  /// - Parameter creates: Whether a missing table is created.
  init(_ writer: any ServedRowWriter, creates: Bool) {
    (self.writer, self.creates) = (writer, creates)
  }

  func check() throws { try writer.check() }

  func transaction<Response>(_ body: () throws -> Response) throws -> Response {
    try writer.transaction(body)
  }

  func table() throws -> ServedDefinition? {
    guard let table = try writer.table() else {
      if creates { return nil }
      throw try writer.missingTable()
    }
    guard table.isPlain else {
      throw RecordError(
        .unsupported("\(table.name) is a view or has partitions, and can only be queried"))
    }
    return table
  }

  func table(creating fields: [(key: String, value: FieldValue)]) throws -> ServedDefinition {
    try insertRows()
    return try writer.table(creating: fields)
  }

  func plan(
    for columns: [String], of table: ServedDefinition, references: [String: String],
    existing: ExistingRowPolicy
  ) throws -> ServedImportPlan {
    self.existing = existing
    let keys = table.columns.filter(\.isKey).map(\.name)
    try existing.check(columns, identifyRowsOf: table.name, by: keys)
    // A table that was created here has a column for the name.
    if columns.isEmpty, !table.isOwn { throw ImportRejection.noValues }
    return ServedImportPlan(
      try columns.map { name in
        guard let column = table.column(named: name) else { throw table.missing(name) }
        return (column, try column.conversion(in: table, referencesTo: references[name]))
      }, on: self)
  }

  /// Collects a row, and inserts the collected ones if there are many.
  fileprivate func insert(_ row: ServedRow, at place: RowPlace) throws {
    rows.append(row)
    places.append(place)
    if rows.count >= Self.rowLimit { try insertRows() }
  }

  private func insertRows() throws {
    if rows.isEmpty { return }
    try check()
    let result = try writer.insert(rows, existing: existing)
    count += result.count
    for (row, reason) in result.rejections { problems.append(places[row].problem(reason.text)) }
    rows.removeAll(keepingCapacity: true)
    places.removeAll(keepingCapacity: true)
  }

  func insertCollected(_ problems: inout [RowProblem]) throws -> Int {
    try insertRows()
    defer { (count, self.problems) = (0, []) }
    problems += self.problems
    return count
  }

  func checkDeferredConstraints() throws { try writer.checkDeferredConstraints() }

  func folded(_ name: String) -> [UInt8] { Array(name.utf8) }

  func rejection(_ error: any Error) -> String? {
    switch error {
    case let rejection as ImportRejection: rejection.text
    case let error as RecordError: if case .invalid(let text) = error.reason { text } else { nil }
    default: nil
    }
  }

  func translated(_ error: any Error) -> any Error { error }
}

/// The place of a row in a file.
private struct RowPlace {
  let line: Int
  let lastLine: Int
  var number = 1

  func problem(_ text: String) -> RowProblem {
    RowProblem(line: line, through: lastLine, number: number, text)
  }
}

/// Converts rows with the same columns to the types of the columns.
final class ServedImportPlan: ImportPlan {
  typealias Column = (served: ServedColumn, conversion: ImportColumn)

  private let columns: [Column]
  private let names: [String]
  private unowned let target: ServedImportTarget

  fileprivate init(_ columns: [Column], on target: ServedImportTarget) {
    (self.columns, self.target) = (columns, target)
    names = columns.map(\.served.name)
  }

  func insertCells(of rows: ImportedRows, _ problems: inout [RowProblem]) throws -> Int {
    try unsafe rows.cells.bytes.withUnsafeBytes { bytes in
      for row in rows.range {
        let lines = rows.cells.lines(of: row)
        let place = RowPlace(line: lines.lowerBound, lastLine: lines.upperBound)
        let cells = rows.cells.cells(of: row)
        try insert(at: place, &problems) {
          guard cells.count == columns.count else {
            throw ImportRejection.cellCount(cells.count, expected: columns.count)
          }
          return try zip(columns, cells).map { column, cell in
            if cell.range.isEmpty,
              column.conversion.isNull(isQuoted: cell.isQuoted, emptyIsNull: rows.emptyIsNull)
            {
              return .null
            }
            let text = unsafe UnsafeRawBufferPointer(rebasing: bytes[cell.range])
            return column.served.storedValue(of: try unsafe column.conversion.value(ofCell: text))
          }
        }
      }
    }
    return 0
  }

  func insert(
    _ objects: ArraySlice<JSONBatch.Object>, _ problems: inout [RowProblem]
  ) throws -> Int {
    for object in objects {
      let place = RowPlace(line: object.line, lastLine: object.line, number: object.number)
      try insert(at: place, &problems) {
        try zip(columns, object.fields).map { column, field in
          column.served.storedValue(of: try column.conversion.value(ofJSON: field.value))
        }
      }
    }
    return 0
  }

  private func insert(
    at place: RowPlace, _ problems: inout [RowProblem], _ values: () throws -> [FieldValue]
  ) throws {
    do {
      try target.insert(ServedRow(columns: names, values: try values()), at: place)
    } catch let rejection as ImportRejection {
      problems.append(place.problem(rejection.text))
    }
  }
}

extension ServedRejection {
  fileprivate var text: String {
    switch self {
    case .invalid(let text): text
    case .existing(let text): text + ImportRejection.existing
    case .discarded: ImportRejection.discarded.text
    }
  }
}

extension ServedDefinition: ImportTable {
  var writableColumns: [String] { columns.filter(\.isWritable).map(\.name) }

  func column(named name: String) -> ServedColumn? {
    columns.first { $0.name.hasSameBytes(as: name) }
  }

  func hasColumn(_ name: String) -> Bool { column(named: name) != nil }

  func isUntyped(_ column: String) -> Bool { self.column(named: column)?.meaning == .untyped }

  func isKeptReference(_ column: String) -> Bool {
    self.column(named: column)?.meaning == .keptReference
  }

  func missing(_ column: String) -> RecordError {
    let names = columns.map(\.name).joined(separator: ", ")
    return RecordError(.invalid("\(name) has no column \(column.shortText); columns: \(names)"))
  }
}

extension ServedColumn {
  /// - Throws: A ``RecordError`` if the column cannot be written.
  fileprivate func conversion(
    in table: ServedDefinition, referencesTo type: String?
  ) throws -> ImportColumn {
    guard isWritable else { throw RecordError.computedColumn(name, of: table.name) }
    let kind: ImportColumn.Kind =
      switch meaning {
      case .integer, .foreignKey(_, _, isInteger: true): .integer
      case .boolean: .boolean
      case .double: .real
      case .single: .single
      case .text, .foreignKey(_, _, isInteger: false), .untyped: .text
      case .uuid: .uuid
      case .enumeration: .enumeration
      case .bytes: .bytes
      case .date: .date
      case .list: .list
      case .keptReference: .reference
      case .other: .other
      }
    return ImportColumn(
      name, kind, declaredType: declaredType, referencesTo: type,
      holdsRecordNames: table.isOwn && isKey)
  }
}
