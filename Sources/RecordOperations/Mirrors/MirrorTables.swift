internal import SQLiteSupport
internal import SystemSupport

/// The tables of mirrors in a local file.
struct MirrorTables {
  let connection: SQLiteConnection
  /// The name of the mirror.
  let mirror: String

  /// The statements that create the tables. Like all tables whose names begin with `_record`, they
  /// are not types of records.
  private static let definitions = [
    """
    CREATE TABLE "_record_mirrors" (mirror TEXT PRIMARY KEY NOT NULL, types TEXT NOT NULL, \
    remote TEXT, token TEXT, examined INTEGER NOT NULL)
    """,
    """
    CREATE TABLE "_record_mirror_bases" (mirror TEXT NOT NULL, type TEXT NOT NULL, \
    name TEXT NOT NULL, tag TEXT, fields TEXT NOT NULL, sequence INTEGER NOT NULL, sent TEXT, \
    pending INTEGER NOT NULL, waiting_tag TEXT, waiting TEXT, rejection TEXT, rejected INTEGER, \
    PRIMARY KEY (type, name, mirror))
    """,
    """
    CREATE INDEX "_record_mirror_pending" ON "_record_mirror_bases" (mirror) WHERE pending <> 0
    """,
    """
    CREATE TABLE "_record_mirror_conflicts" (mirror TEXT NOT NULL, at TEXT NOT NULL, \
    type TEXT NOT NULL, name TEXT NOT NULL, field TEXT, lost TEXT NOT NULL, kept TEXT NOT NULL, \
    side TEXT NOT NULL)
    """,
  ]
  /// The columns that the remote tables had when their records were last fetched as a whole; NULL until
  /// they are.
  private static let typesDefinition = """
    CREATE TABLE "_record_mirror_types" (mirror TEXT NOT NULL, type TEXT NOT NULL, columns TEXT, \
    PRIMARY KEY (mirror, type))
    """

  // MARK: The mirror

  /// The position of a mirror in the changes of both databases.
  struct Position {
    /// The mirrored types, sorted.
    var types: [String]
    /// The ID of the remote database; nil if it was not known.
    var remote: String?
    /// The position in the changes of the remote database; nil to fetch all records.
    var token: ChangeToken?
    /// The local tag up to which all records are in step or marked as pending.
    var examined: Int64
  }

  /// Whether the tables exist.
  func exist() throws -> Bool { try connection.hasTable("_record_mirrors") }

  private func haveTypes() throws -> Bool { try connection.hasTable("_record_mirror_types") }

  /// Creates the tables that do not exist.
  func create() throws {
    if try !exist() { for sql in Self.definitions { try connection.execute(sql) } }
    if try haveTypes() { return }
    try connection.execute(Self.typesDefinition)
    // An earlier version did not know the columns, and may have missed the values of new ones.
    try connection.execute(
      """
      INSERT INTO "_record_mirror_types" SELECT DISTINCT mirror, type, NULL \
      FROM "_record_mirror_bases"
      """)
  }

  /// The position; nil if the mirror is new.
  func position() throws -> Position? {
    try connection.fetchOne(
      "SELECT types, remote, token, examined FROM \"_record_mirrors\" WHERE mirror = ?1",
      [.text(mirror)]
    ) { row in
      let types = JSONValue(parsing: row.text(at: 0) ?? "")?.texts ?? []
      return Position(
        types: types, remote: row.text(at: 1), token: row.text(at: 2).map { ChangeToken($0) },
        examined: row.integer(at: 3))
    }
  }

  func save(_ position: Position) throws {
    let types = try FieldValue.listText(position.types.map { .string($0) })
    try connection.execute(
      "INSERT OR REPLACE INTO \"_record_mirrors\" VALUES (?1, ?2, ?3, ?4, ?5)",
      [
        .text(mirror), .text(types), .optional(position.remote),
        .optional(position.token?.description),
        .integer(position.examined),
      ])
  }

  // MARK: Bases

  private static let columns =
    "tag, fields, sequence, sent, pending, waiting_tag, waiting, rejection, rejected"

  /// The entry of a record; nil if there is none.
  func base(of id: RecordID) throws -> MirrorBase? {
    try connection.fetchOne(
      """
      SELECT \(Self.columns) FROM "_record_mirror_bases" WHERE type = ?1 AND name = ?2 \
      AND mirror = ?3
      """, [.text(id.type), .text(id.name), .text(mirror)]
    ) { try Self.base(in: $0) }
  }

  private static func base(in row: SQLiteStatement) throws -> MirrorBase {
    var base = MirrorBase(
      tag: row.text(at: 0).map { RecordTag($0) },
      fields: try MirroredFields.fields(in: row.text(at: 1) ?? ""),
      sequence: row.integer(at: 2),
      sent: try row.text(at: 3).map(MirroredFields.fields),
      pending: MirrorBase.Pending(rawValue: row.integer(at: 4)),
      rejection: row.text(at: 7),
      rejected: row.isNull(at: 8) ? nil : row.integer(at: 8))
    if let waiting = row.text(at: 6) {
      base.waiting = (
        row.text(at: 5).map { RecordTag($0) }, try MirroredFields.fields(in: waiting)
      )
    }
    return base
  }

  func save(_ base: MirrorBase, of id: RecordID) throws {
    try connection.execute(
      """
      INSERT OR REPLACE INTO "_record_mirror_bases" (type, name, mirror, \(Self.columns)) \
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
      """,
      [
        .text(id.type), .text(id.name), .text(mirror), .optional(base.tag?.description),
        .text(MirroredFields.text(of: base.fields)), .integer(base.sequence),
        .optional(base.sent.map { MirroredFields.text(of: $0, withNulls: true) }),
        .integer(base.pending.rawValue), .optional(base.waiting?.tag?.description),
        .optional(base.waiting.map { MirroredFields.text(of: $0.fields) }),
        .optional(base.rejection), base.rejected.map { .integer($0) } ?? .null,
      ])
  }

  /// Makes the states of new records of a type the common ones.
  ///
  /// - Parameter sequence: The local tag before that of the first record.
  func insert(_ records: [DatabaseRecord], of type: String, after sequence: Int64) throws {
    try connection.insert(
      records.count, into: "\"\(SQLiteTracking.mirrorBases)\"",
      constants: ["mirror": .text(mirror), "type": .text(type), "pending": .integer(0)],
      ["name", "tag", "fields", "sequence"]
    ) { statement, index, place in
      let record = records[index]
      try statement.bind(record.id.name, at: place)
      try statement.bind(.optional(record.tag?.description), at: place + 1)
      let fields = MirroredFields.bytes(of: record.fields)
      try unsafe fields.withUnsafeBytes { bytes in
        try unsafe statement.bindText(bytes, at: place + 2, isCopied: true)
      }
      try statement.bind(sequence + Int64(index) + 1, at: place + 3)
    }
  }

  /// Whether the mirror has entries of a type.
  func knows(_ type: String) throws -> Bool {
    try connection.fetchOne(
      "SELECT 1 FROM \"_record_mirror_bases\" WHERE type = ?1 AND mirror = ?2",
      [.text(type), .text(mirror)]
    ) { _ in true } ?? false
  }

  /// Removes all that is known of the mirror, and the tables with the last mirror.
  func removeMirror() throws {
    let names = [
      "_record_mirrors", "_record_mirror_bases", "_record_mirror_conflicts", "_record_mirror_types",
    ]
    for name in try names.filter({ try connection.hasTable($0) }) {
      try connection.execute("DELETE FROM \"\(name)\" WHERE mirror = ?1", [.text(mirror)])
    }
    let isLast = try connection.fetchOne("SELECT 1 FROM \"_record_mirrors\"") { _ in false } ?? true
    if !isLast { return }
    for name in names { try connection.execute("DROP TABLE IF EXISTS \"\(name)\"") }
  }

  /// Removes all entries.
  func forgetAll() throws {
    try connection.execute(
      "DELETE FROM \"_record_mirror_bases\" WHERE mirror = ?1", [.text(mirror)])
  }

  // MARK: Columns of remote tables

  /// What the mirror knows of the columns of a remote table.
  enum KnownColumns {
    /// Nothing: it has never seen the table.
    case none
    /// The records of the table have to be fetched as a whole.
    case incomplete
    case complete([TableDescription.Column])
  }

  func columns(of type: String) throws -> KnownColumns {
    let text = try connection.fetchOne(
      "SELECT columns FROM \"_record_mirror_types\" WHERE mirror = ?1 AND type = ?2",
      [.text(mirror), .text(type)]
    ) { $0.text(at: 0) }
    guard let text else { return .none }
    guard let text, let parts = JSONValue(parsing: text)?.texts else { return .incomplete }
    var columns: [TableDescription.Column] = []
    for index in stride(from: 0, to: parts.count - 3, by: 4) {
      columns.append(
        TableDescription.Column(
          name: parts[index], type: parts[index + 1], number: Int64(parts[index + 2]) ?? 0,
          isFilled: !parts[index + 3].isEmpty))
    }
    return .complete(columns)
  }

  /// - Parameter columns: Nil if the records have to be fetched as a whole.
  func save(columns: [TableDescription.Column]?, of type: String) throws {
    var parts: [FieldValue] = []
    for column in columns ?? [] {
      let isFilled = column.isFilled ? "filled" : ""
      parts += [.string(column.name), .string(column.type), .string("\(column.number)")]
      parts.append(.string(isFilled))
    }
    let text = columns == nil ? nil : try FieldValue.listText(parts)
    try connection.execute(
      "INSERT OR REPLACE INTO \"_record_mirror_types\" VALUES (?1, ?2, ?3)",
      [.text(mirror), .text(type), .optional(text)])
  }

  /// Whether nothing has to be prepared for a round: the tables exist, and the changes of each
  /// mirrored table are tracked.
  func arePrepared(for types: [String]) throws -> Bool {
    guard try exist(), try haveTypes(), try position()?.types == types else { return false }
    return try types.allSatisfy { type in
      guard let table = try connection.table(type) else { return try !knows(type) }
      return table.isTracked
    }
  }

  /// Removes the entries of a type.
  func forget(_ type: String) throws {
    for table in ["_record_mirror_bases", "_record_mirror_types"] {
      try connection.execute(
        "DELETE FROM \"\(table)\" WHERE type = ?1 AND mirror = ?2", [.text(type), .text(mirror)])
    }
  }

  func removeBase(of id: RecordID) throws {
    try connection.execute(
      "DELETE FROM \"_record_mirror_bases\" WHERE type = ?1 AND name = ?2 AND mirror = ?3",
      [.text(id.type), .text(id.name), .text(mirror)])
  }

  /// The settings of a record that is missing. A remote state that waits is void.
  private static let missing =
    "pending = pending & ~18 | 1, waiting = NULL, waiting_tag = NULL"

  /// Marks all records that the remote database had as missing, until it reports them again.
  func markAllMissing() throws {
    try connection.execute(
      """
      UPDATE "_record_mirror_bases" SET \(Self.missing) WHERE mirror = ?1 \
      AND (tag IS NOT NULL OR waiting IS NOT NULL)
      """, [.text(mirror)])
  }

  /// Marks a record that the mirror knows as missing in the remote database.
  func markMissing(_ id: RecordID) throws {
    try connection.execute(
      """
      UPDATE "_record_mirror_bases" SET \(Self.missing) WHERE type = ?1 AND name = ?2 \
      AND mirror = ?3 AND (tag IS NOT NULL OR waiting IS NOT NULL)
      """, [.text(id.type), .text(id.name), .text(mirror)])
  }

  /// Returns the mirrored records with pending work.
  func pending(_ pending: MirrorBase.Pending, types: [String]) throws -> [RecordID] {
    let types = Set(types)
    return try connection.fetchAll(
      """
      SELECT type, name FROM "_record_mirror_bases" WHERE mirror = ?1 AND pending <> 0 \
      AND pending & ?2 <> 0
      """, [.text(mirror), .integer(pending.rawValue)]
    ) { RecordID($0.text(at: 0) ?? "", $0.text(at: 1) ?? "") }.filter { types.contains($0.type) }
  }

  /// Returns the reasons for which records are rejected.
  func rejections(types: [String]) throws -> [RecordID: String] {
    var found: [RecordID: String] = [:]
    for id in try pending([.unsent, .unmerged], types: types) {
      found[id] = try base(of: id)?.rejection
    }
    return found
  }
}

extension SQLiteValue {
  static func optional(_ text: String?) -> SQLiteValue { text.map { .text($0) } ?? .null }
}

extension JSONValue {
  /// The texts of a list of strings; nil for any other value.
  fileprivate var texts: [String]? {
    guard case .list(let values) = self else { return nil }
    return values.compactMap { if case .string(let text) = $0 { text } else { nil } }
  }
}
