internal import RecordOperations
internal import SystemSupport

/// A table or a view of the schema.
final class PostgresTable: Sendable {
  let name: String
  /// The quoted name, with its schema.
  let quoted: String
  /// Whether rows can be written, and changes tracked: it is no view and has no partitions.
  let isPlain: Bool
  let columns: [PostgresColumn]
  /// The key that contains the names of its records.
  let key: PostgresKey
  /// Whether it was created here, and not by another program.
  let isOwn: Bool
  /// Whether triggers track the states of its rows.
  let isTracked: Bool
  /// Whether this role may read it.
  let isReadable: Bool
  /// Whether this role may lock its rows, which requires the privilege to update them.
  let isLockable: Bool
  /// Whether this role may change the times of the states of its records.
  let hasWritableStates: Bool
  /// The version of its definition.
  let version: String
  /// The quoted name of the table of states; nil if the table is not tracked, or if this role may
  /// not read the states.
  private let states: String?
  private let columnsByName: [String: PostgresColumn]

  init(
    name: String, in schema: PostgresRecordSchema, isPlain: Bool, columns: [PostgresColumn],
    key: PostgresKey, isOwn: Bool, isTracked: Bool, isReadable: Bool, isLockable: Bool,
    hasReadableStates: Bool, hasWritableStates: Bool, version: String
  ) {
    self.name = name
    quoted = schema.qualified(name)
    self.isPlain = isPlain
    self.columns = columns
    self.key = key
    self.isOwn = isOwn
    self.isTracked = isTracked
    self.isReadable = isReadable
    self.isLockable = isLockable
    self.hasWritableStates = hasWritableStates
    self.version = version
    states = isTracked && hasReadableStates ? schema.states : nil
    columnsByName = Dictionary(columns.map { ($0.name, $0) }) { first, _ in first }
  }

  /// An expression for the tag and the time of the state of a row with the alias `t`.
  var state: String { state(ofName: key.name(of: "t")) }

  /// Returns an expression for the tag and the time of the state of the row with a name.
  func state(ofName name: String) -> String {
    state(ofName: name, selecting: PostgresTracking.state)
  }

  /// Returns an expression for the tag of a row with the alias `t`.
  var tag: String { state(ofName: key.name(of: "t"), selecting: "s.sequence") }

  private func state(ofName name: String, selecting selection: String) -> String {
    guard let states else { return "NULL::text" }
    return """
      (SELECT \(selection) FROM \(states) AS s WHERE s.type = \(PostgresName.literal(self.name)) \
      AND s.name = \(name) AND NOT s.deleted)
      """
  }

  /// Returns the column with a name, compared byte by byte; nil if there is none.
  func column(named name: String) -> PostgresColumn? {
    if let column = columnsByName[name], column.name.hasSameBytes(as: name) { return column }
    return columns.first { $0.name.hasSameBytes(as: name) }
  }

  /// The columns that are fields of a record, without its name.
  var fields: [PostgresColumn] { columns.filter { !key.isName($0.name) } }

  /// Returns a column for a condition or an order: a field, or the name of the record.
  ///
  /// - Throws: A ``RecordError`` if the column does not exist.
  func queriedColumn(_ key: String) throws -> PostgresColumn {
    guard let column = column(named: key) else { throw missing(key, columns) }
    return column
  }

  /// Returns the column of a field.
  ///
  /// - Throws: A ``RecordError`` that lists the existing columns.
  func field(_ key: String) throws -> PostgresColumn {
    guard let column = column(named: key) else { throw missing(key, fields) }
    guard !self.key.isName(column.name) else {
      throw RecordError(
        .invalid("the column \(key) of \(name) is the name of the record, not a field of it"))
    }
    return column
  }

  private func missing(_ key: String, _ columns: [PostgresColumn]) -> RecordError {
    let names = columns.map(\.name).joined(separator: ", ")
    return RecordError(.invalid("\(name) has no column \(key.shortText); columns: \(names)"))
  }

  /// Returns the columns to read for a request.
  ///
  /// - Parameter keys: The fields to read; nil for all.
  /// - Throws: A ``RecordError`` if a column does not exist.
  func readColumns(_ keys: [String]?) throws -> [PostgresColumn] {
    try keys?.map { try field($0) } ?? fields
  }

  /// - Throws: A ``RecordError`` if the table can only be queried.
  func checkIsWritable() throws {
    guard isPlain, !key.isNone else {
      throw RecordError(
        .unsupported(
          "\(name) can only be queried: it is not a table whose primary key can be the name of a "
            + "record"))
    }
  }
}
