internal import SQLiteSupport

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A position in the sequence of changes. As a token: `identity:sequence:beginning`.
private struct SQLitePosition {
  /// The identity of the database; empty if it had no changes yet.
  let identity: String
  let sequence: Int64
  /// The last sequence when the caller fetched without a token. Records that were deleted before
  /// are not reported, because the caller never had them.
  let beginning: Int64

  init(identity: String, sequence: Int64, beginning: Int64) {
    self.identity = identity
    self.sequence = sequence
    self.beginning = beginning
  }

  init?(_ token: ChangeToken) {
    let parts = token.description.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 3, let sequence = Int64(parts[1]), let beginning = Int64(parts[2]),
      sequence >= 0, beginning >= 0
    else { return nil }
    self.init(identity: String(parts[0]), sequence: sequence, beginning: beginning)
  }

  var token: ChangeToken { ChangeToken("\(identity):\(sequence):\(beginning)") }
}

/// The date of the text that was parsed last: many records are saved in the same millisecond.
private struct ParsedDate {
  private var text: String?
  private var date: Date?

  mutating func date(_ text: String?) -> Date? {
    if text != self.text { (self.text, date) = (text, text.flatMap { Date(text: $0) }) }
    return date
  }
}

extension SQLiteConnection {
  /// Returns a page of changes since a token. Must be called in a transaction.
  ///
  /// - Parameter count: The maximum number of changes on the page.
  /// - Throws: A ``SQLiteError``; a ``RecordError`` if the token has expired, or if no table is
  ///   tracked.
  func changes(since token: ChangeToken?, atMost count: Int) throws -> ChangePage {
    guard try hasTrackingTables(), let database = try database() else {
      return try noChanges(since: token)
    }
    let start = try start(token, in: database)
    var page = ChangePage(changed: [], deleted: [], token: start.token, hasMore: false)
    var last = start.sequence
    var readers: [String: SQLiteRowReader] = [:]
    var modified = ParsedDate()
    try withCachedStatement(
      """
      SELECT sequence, type, name, deleted, modified FROM "_record_states" \
      WHERE sequence > ?1 AND (deleted = 0 OR sequence > ?2) ORDER BY sequence LIMIT ?3
      """
    ) { row in
      try row.bind(start.sequence, at: 1)
      try row.bind(start.beginning, at: 2)
      // One more row shows whether this is the last page.
      try row.bind(Int64(count == .max ? count : count + 1), at: 3)
      var rest = count
      while try row.step() {
        if rest == 0 {
          page.hasMore = true
          break
        }
        rest -= 1
        last = row.integer(at: 0)
        let id = RecordID(row.text(at: 1) ?? "", row.text(at: 2) ?? "")
        let isDeleted = row.integer(at: 3) != 0
        // Dropping a table runs no triggers, so the states of its records remain.
        if !isDeleted, readers[id.type] == nil, let table = try table(id.type) {
          readers[id.type] = try SQLiteRowReader(table, keys: nil)
        }
        if !isDeleted, let reader = readers[id.type],
          let record = try record(
            id.name, by: reader,
            in: SQLiteRowState(
              exists: true, tag: RecordTag("\(last)"), modified: modified.date(row.text(at: 4))))
        {
          page.changed.append(record)
        } else if last > start.beginning {
          page.deleted.append(id)
        }
      }
    }
    page.token =
      SQLitePosition(
        identity: database.identity,
        sequence: page.hasMore ? last : database.last,
        beginning: start.beginning
      ).token
    return page
  }

  /// Returns the position of a token.
  ///
  /// - Throws: A ``RecordError`` if the token has expired.
  private func start(
    _ token: ChangeToken?, in database: (identity: String, forgotten: Int64, last: Int64)
  ) throws -> SQLitePosition {
    let new = SQLitePosition(identity: database.identity, sequence: 0, beginning: database.last)
    guard let token else { return new }
    // A token of another kind of database counts as expired.
    guard let position = SQLitePosition(token) else { throw RecordError(.tokenExpired) }
    if position.identity.isEmpty {
      // The file had no changes then. The caller may have saved the records that were deleted since.
      guard database.forgotten == 0 else { throw RecordError(.tokenExpired) }
      return SQLitePosition(identity: database.identity, sequence: 0, beginning: 0)
    }
    guard position.identity == database.identity, position.sequence <= database.last,
      max(position.sequence, position.beginning) >= database.forgotten
    else { throw RecordError(.tokenExpired) }
    return position
  }

  private func noChanges(since token: ChangeToken?) throws -> ChangePage {
    if let token, SQLitePosition(token)?.identity != "" { throw RecordError(.tokenExpired) }
    let tables = try tables()
    guard tables.isEmpty else {
      let names = tables.joined(separator: ", ")
      throw RecordError(
        .unsupported(
          "\(file) does not track changes yet: call keepChanges(of:) for its tables (\(names))"
        ))
    }
    let token = SQLitePosition(identity: "", sequence: 0, beginning: 0).token
    return ChangePage(changed: [], deleted: [], token: token, hasMore: false)
  }

  /// Returns the ID of the file, whose changes are tracked.
  ///
  /// - Throws: A ``SQLiteError``.
  func identity() throws -> String? {
    try fetchOne("SELECT identity FROM \"_record_database\"") { $0.text(at: 0) } ?? nil
  }

  private func database() throws -> (identity: String, forgotten: Int64, last: Int64)? {
    try fetchOne(
      """
      SELECT identity, forgotten, \
      ifnull((SELECT seq FROM sqlite_sequence WHERE name = '_record_states'), 0) \
      FROM "_record_database"
      """
    ) { ($0.text(at: 0) ?? "", $0.integer(at: 1), $0.integer(at: 2)) }
  }

  /// Deletes the states of records that were deleted before a date. Older tokens expire.
  ///
  /// States of deletions that a mirror has not sent yet are kept.
  ///
  /// - Returns: The number of states that were deleted.
  /// - Throws: A ``SQLiteError``.
  func forgetDeletions(before date: Date) throws -> Int {
    guard try hasTrackingTables() else { return 0 }
    let text: SQLiteValue = .text(date.boundText)
    var condition = "deleted = 1 AND modified < ?1"
    if try hasTable(SQLiteTracking.mirrorBases) {
      condition += " AND \(SQLiteTracking.isUnknownToMirrors)"
    }
    try execute(
      """
      UPDATE "_record_database" SET forgotten = max(forgotten, ifnull( \
      (SELECT max(sequence) FROM "_record_states" WHERE \(condition)), 0))
      """, [text])
    try execute("DELETE FROM \"_record_states\" WHERE \(condition)", [text])
    return changeCount
  }
}
