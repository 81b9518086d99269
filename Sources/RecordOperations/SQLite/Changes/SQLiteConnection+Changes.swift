#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Up to where changes are known, as a token says it: `identity:sequence:beginning`.
private struct SQLitePosition {
  /// Which database it is; empty for one in which there was nothing yet.
  let identity: String
  let sequence: Int64
  /// The last sequence when somebody began with nothing: what was deleted until then, they never had.
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

extension SQLiteConnection {
  /// What has changed since a token. It is called within a transaction.
  ///
  /// - Parameter count: How many changes there are on the page at most.
  /// - Throws: A ``SQLiteError``; a ``RecordError`` if the changes are not known any more, or are not kept at all.
  func changes(since token: ChangeToken?, atMost count: Int) throws -> ChangePage {
    guard try hasStates(), let database = try database() else { return try noChanges(since: token) }
    let start = try start(token, in: database)
    let states = try rows(
      """
      SELECT sequence, type, name, deleted FROM "_record_states" \
      WHERE sequence > ?1 AND (deleted = 0 OR sequence > ?2) ORDER BY sequence LIMIT ?3
      """,
      [
        .integer(start.sequence), .integer(start.beginning),
        .integer(Int64(count == .max ? count : count + 1)),
      ]
    ) { row in
      (
        sequence: row.integer(at: 0), type: row.text(at: 1) ?? "", name: row.text(at: 2) ?? "",
        isDeleted: row.integer(at: 3) != 0
      )
    }
    var page = ChangePage(changed: [], deleted: [], token: start.token, hasMore: false)
    for state in states.prefix(count) {
      let id = RecordID(state.type, state.name)
      // A table that was dropped has deleted nothing, as its triggers saw it.
      if !state.isDeleted, let table = try table(state.type),
        let record = try record(state.name, in: table)
      {
        page.changed.append(record)
      } else if state.sequence > start.beginning {
        page.deleted.append(id)
      }
    }
    page.hasMore = states.count > count
    page.token =
      SQLitePosition(
        identity: database.identity,
        sequence: page.hasMore ? states[count - 1].sequence : database.last,
        beginning: start.beginning
      ).token
    return page
  }

  /// - Throws: A ``RecordError`` if the changes since then are not known any more.
  private func start(
    _ token: ChangeToken?, in database: (identity: String, forgotten: Int64, last: Int64)
  ) throws -> SQLitePosition {
    let new = SQLitePosition(identity: database.identity, sequence: 0, beginning: database.last)
    guard let token else { return new }
    // One of another kind of database is as good as none.
    guard let position = SQLitePosition(token) else { throw RecordError(.tokenExpired) }
    if position.identity.isEmpty { return new }
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

  private func database() throws -> (identity: String, forgotten: Int64, last: Int64)? {
    try first(
      """
      SELECT identity, forgotten, \
      ifnull((SELECT seq FROM sqlite_sequence WHERE name = '_record_states'), 0) \
      FROM "_record_database"
      """
    ) { ($0.text(at: 0) ?? "", $0.integer(at: 1), $0.integer(at: 2)) }
  }

  /// Forgets which records were deleted before a moment. Who asks for changes since then begins anew.
  ///
  /// - Returns: How many.
  /// - Throws: A ``SQLiteError``.
  func forgetDeletions(before date: Date) throws -> Int {
    guard try hasStates() else { return 0 }
    let text: SQLiteValue = .text(
      Date.texts.contains(date) ? date.text : date < Date.texts.lowerBound ? "" : ":")
    try run(
      """
      UPDATE "_record_database" SET forgotten = max(forgotten, ifnull( \
      (SELECT max(sequence) FROM "_record_states" WHERE deleted = 1 AND modified < ?1), 0))
      """, [text])
    try run("DELETE FROM \"_record_states\" WHERE deleted = 1 AND modified < ?1", [text])
    return changeCount
  }
}
