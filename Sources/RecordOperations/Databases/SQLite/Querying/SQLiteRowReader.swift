internal import SQLiteSupport

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Reads rows as records.
struct SQLiteRowReader {
  let table: SQLiteTable
  private let columns: [SQLiteColumn]
  /// The places of the columns by their names. The fields of a record are mapped from them, which
  /// takes less time than to insert each field.
  private let places: [String: Int]
  /// The selected expressions for rows with the alias `t`: the name, then the fields.
  let selection: String
  /// A query for the row with a name, whose parameters are the values of the key.
  let rowQuery: String

  /// - Parameter keys: The fields to read; nil for all.
  /// - Throws: A ``RecordError`` if there is no column for one of them.
  init(_ table: SQLiteTable, keys: [String]?) throws {
    self.table = table
    columns = try keys?.map { try table.column($0) } ?? table.fields
    places = Dictionary(columns.enumerated().map { ($1.name, $0) }) { _, last in last }
    selection = columns.reduce(into: table.sql.name) { $0 += ", t." + $1.quoted }
    rowQuery = "SELECT \(selection) FROM \(table.sql.table) AS t WHERE \(table.sql.isRow)"
  }

  /// The number of selected expressions.
  var width: Int { 1 + columns.count }

  /// Returns the record of a row.
  ///
  /// - Parameters:
  ///   - name: The name of the record; nil to read it from the row.
  ///   - state: Returns the state of a record by its name.
  /// - Throws: The error of `state`.
  func record(
    _ row: SQLiteStatement, name: String? = nil, state: (_ name: String) throws -> SQLiteRowState
  ) rethrows -> DatabaseRecord {
    let fields = places.mapValues { columns[$0].fieldValue(row.value(at: $0 + 1)) }
    let own = name ?? row.text(at: 0) ?? String(decoding: row.bytes(at: 0), as: UTF8.self)
    let state = try state(own)
    return DatabaseRecord(
      RecordID(table.name, own), fields: fields, tag: state.tag, modified: state.modified)
  }
}

/// The state of the record of a row.
struct SQLiteRowState {
  static let none = SQLiteRowState(exists: false, tag: nil, modified: nil)

  let exists: Bool
  let tag: RecordTag?
  let modified: Date?
}

extension SQLiteConnection {
  /// Returns a record; nil if there is none with this name.
  ///
  /// - Throws: A ``SQLiteError``; a ``RecordError`` if there is no column for one of the keys.
  func record(_ name: String, in table: SQLiteTable, keys: [String]? = nil) throws
    -> DatabaseRecord?
  {
    let reader = try SQLiteRowReader(table, keys: keys)
    guard let key = table.key.values(of: name) else { return nil }
    let state = try state(of: key, in: table)
    guard state.exists else { return nil }
    return try record(name, by: reader, in: state)
  }

  /// Returns a record whose state is known; nil if there is no row with its name.
  ///
  /// - Throws: A ``SQLiteError``.
  func record(
    _ name: String, by reader: SQLiteRowReader, in state: SQLiteRowState
  ) throws -> DatabaseRecord? {
    let table = reader.table
    guard let key = table.key.values(of: name) else { return nil }
    return try fetchOne(reader.rowQuery, key) { row in
      reader.record(row, name: name) { _ in state }
    }
  }

  /// Returns the state of a row.
  ///
  /// - Parameter key: The values of its key.
  /// - Throws: A ``SQLiteError``.
  func state(of key: [SQLiteValue], in table: SQLiteTable) throws -> SQLiteRowState {
    try fetchOne(table.sql.state, key) { row in
      SQLiteRowState(
        exists: true, tag: row.isNull(at: 1) ? nil : RecordTag("\(row.integer(at: 1))"),
        modified: row.text(at: 2).flatMap { Date(text: $0) })
    } ?? .none
  }

  /// Passes a body a function that returns the state of a record by its name.
  ///
  /// Each state is looked up separately. A join would look them up before the rows are sorted, and
  /// for rows on other pages.
  ///
  /// - Throws: A ``SQLiteError``; the error of the body.
  func withStates<Result>(
    of table: SQLiteTable, _ body: ((_ name: String) throws -> SQLiteRowState) throws -> Result
  ) throws -> Result {
    guard table.isTracked else {
      return try body { _ in SQLiteRowState(exists: true, tag: nil, modified: nil) }
    }
    return try withCachedStatement(
      "SELECT sequence, modified FROM \"_record_states\" WHERE type = ?1 AND name = ?2 AND deleted = 0"
    ) { statement in
      try statement.bind(table.name, at: 1)
      return try body { name in
        defer { statement.reset() }
        try statement.bind(name, at: 2)
        guard try statement.step() else { return .none }
        return SQLiteRowState(
          exists: true, tag: RecordTag("\(statement.integer(at: 0))"),
          modified: statement.text(at: 1).flatMap { Date(text: $0) })
      }
    }
  }
}
