internal import RecordOperations

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A position in the sequence of changes. As a token: `identity:transaction:sequence:beginning`.
private struct PostgresPosition {
  let identity: String
  /// The transaction and the sequence of the last reported state.
  let transaction: UInt64
  let sequence: Int64
  /// The oldest transaction whose deletions are reported. The caller never had the records that were
  /// deleted before.
  let beginning: UInt64

  init(identity: String, transaction: UInt64, sequence: Int64, beginning: UInt64) {
    self.identity = identity
    self.transaction = transaction
    self.sequence = sequence
    self.beginning = beginning
  }

  init?(_ token: ChangeToken) {
    let parts = token.description.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 4, let transaction = UInt64(parts[1]), let sequence = Int64(parts[2]),
      let beginning = UInt64(parts[3]), sequence >= 0
    else { return nil }
    self.init(
      identity: String(parts[0]), transaction: transaction, sequence: sequence,
      beginning: beginning)
  }

  var token: ChangeToken { ChangeToken("\(identity):\(transaction):\(sequence):\(beginning)") }
}

extension PostgresRecordSession {
  /// The database as far as changes are concerned.
  struct Database {
    let identity: String?
    /// Whether tables are tracked, or will be from their creation on.
    let isTracked: Bool
    /// The names of the tables; nil if there are none.
    let tables: String?
    /// The first transaction that has not begun.
    let next: UInt64
  }

  /// Returns the ID of the schema; nil if the schema does not exist.
  ///
  /// - Throws: A ``PostgresError``.
  func identity() throws -> String? { try database().identity }

  /// - Throws: A ``PostgresError``.
  func database() throws -> Database {
    let rows = try connection.rows(
      PostgresStatement(
        "read the identity",
        """
        SELECT s.system_identifier || '-' || d.oid || '-' || n.oid, to_regclass($2::text) IS NOT NULL,
          pg_snapshot_xmax(pg_current_snapshot()),
          (SELECT string_agg(c.relname, ', ' ORDER BY c.relname) FROM pg_class AS c
            WHERE c.relnamespace = n.oid AND c.relkind IN ('r', 'p'))
        FROM pg_control_system() AS s JOIN pg_database AS d ON d.datname = current_database()
          LEFT JOIN pg_namespace AS n ON n.nspname = $1::name
        """), [.text(schema.name), .text(schema.states)])
    return Database(
      identity: rows.text(0, 0), isTracked: rows.boolean(0, 1) ?? false, tables: rows.text(0, 3),
      next: rows.text(0, 2).flatMap { UInt64($0) } ?? 0)
  }

  /// Returns a page of changes since a token.
  ///
  /// Only the states of transactions that precede all open ones are returned: a transaction that is
  /// open now may have an earlier position than one that is already committed.
  ///
  /// - Parameter count: The maximum number of changes on the page.
  /// - Throws: A ``PostgresError``; a ``RecordError`` if the token has expired, or if no table is
  ///   tracked; ``OutdatedSchema``.
  func changes(since token: ChangeToken?, atMost count: Int) throws -> ChangePage {
    let database = try database()
    guard let identity = database.identity, database.isTracked else {
      return try noChanges(since: token, in: database)
    }
    let position = try token.map { token in
      guard let position = PostgresPosition(token), position.transaction < database.next,
        position.identity == identity || position.identity.isEmpty
      else { throw RecordError(.tokenExpired) }
      return position
    }
    let (states, start, delayedSince) = try states(after: position, identity, atMost: count)
    var page = try records(of: states, since: start, atMost: count)
    page.delayedSince = delayedSince
    return page
  }

  private func states(
    after position: PostgresPosition?, _ identity: String, atMost count: Int
  ) throws -> (states: PostgresRows, start: PostgresPosition, delayedSince: Date?) {
    let horizon = try connection.rows(
      PostgresStatement(
        "read the horizon",
        """
        SELECT forgotten, pg_snapshot_xmin(pg_current_snapshot())
        FROM \(schema.quoted).record_database
        """))
    let forgotten = horizon.text(0, 0).flatMap { UInt64($0) } ?? 0
    let start =
      position.map {
        PostgresPosition(
          identity: identity, transaction: $0.transaction, sequence: $0.sequence,
          beginning: $0.beginning)
      }
      ?? PostgresPosition(
        identity: identity, transaction: 0, sequence: 0,
        beginning: horizon.text(0, 1).flatMap { UInt64($0) } ?? 0)
    if position != nil, max(start.transaction, start.beginning) < forgotten {
      throw RecordError(.tokenExpired)
    }
    let changes = PostgresStatement(
      "read changes",
      """
      SELECT type, name, deleted, xid, sequence FROM \(schema.states)
      WHERE (xid, sequence) > ($1::xid8, $2::bigint)
        AND xid < pg_snapshot_xmin(pg_current_snapshot()) AND (NOT deleted OR xid >= $3::xid8)
      ORDER BY xid, sequence LIMIT $4::bigint
      """)
    let delayed = PostgresStatement(
      "read delayed changes",
      """
      SELECT round(date_part('epoch', modified) * 1000)::bigint FROM \(schema.states)
      WHERE xid >= pg_snapshot_xmin(pg_current_snapshot()) ORDER BY xid, sequence LIMIT 1
      """)
    let rows = try connection.rows([
      (
        changes,
        [
          .text("\(start.transaction)"), .integer(start.sequence), .text("\(start.beginning)"),
          // One more row shows whether this is the last page.
          .integer(Int64(count == .max ? count : count + 1)),
        ]
      ), (delayed, []),
    ])
    let milliseconds = rows[1].count > 0 ? rows[1].integer(0, 0) : nil
    return (
      rows[0], start, milliseconds.map { Date(timeIntervalSince1970: Double($0) / 1_000) }
    )
  }

  private func records(
    of states: PostgresRows, since start: PostgresPosition, atMost count: Int
  ) throws -> ChangePage {
    var reported: [(id: RecordID, isDeleted: Bool, transaction: UInt64)] = []
    var last = start
    let types = Array(Set((0..<states.count).map { TypeName(states.text($0, 0) ?? "") }))
    let tables = try schema.cached(types) ?? load(types)
    for row in 0..<min(states.count, count) {
      let (type, name) = (states.text(row, 0) ?? "", states.text(row, 1) ?? "")
      let transaction = states.text(row, 3).flatMap { UInt64($0) } ?? 0
      let table = tables[TypeName(type)] ?? nil
      // The changes of a table that this role may not read are not its business.
      if table?.isReadable != false {
        reported.append(
          (
            RecordID(type, table?.key.decoded(name) ?? name), states.boolean(row, 2) == true,
            transaction
          ))
      }
      last = PostgresPosition(
        identity: start.identity, transaction: transaction,
        sequence: states.integer(row, 4) ?? 0, beginning: start.beginning)
    }
    // A record may have changed again since its state was read. Its new state is reported later, too.
    let found = try lookup(reported.filter { !$0.isDeleted }.map(\.id), keys: nil)
    var page = ChangePage(
      changed: [], deleted: [], token: last.token, hasMore: states.count > count)
    for (id, isDeleted, transaction) in reported {
      if !isDeleted, let record = found[id] {
        page.changed.append(record)
      } else if transaction >= start.beginning {
        // Dropping a table runs no triggers, so the states of its records remain.
        page.deleted.append(id)
      }
    }
    return page
  }

  private func noChanges(since token: ChangeToken?, in database: Database) throws -> ChangePage {
    if let token, PostgresPosition(token)?.identity != "" { throw RecordError(.tokenExpired) }
    if let tables = database.tables {
      throw RecordError(
        .unsupported(
          "the schema \(schema.name) does not track changes yet: call keepChanges(of:) for its "
            + "tables (\(tables))"))
    }
    let token = PostgresPosition(identity: "", transaction: 0, sequence: 0, beginning: 0).token
    return ChangePage(changed: [], deleted: [], token: token, hasMore: false)
  }
}
