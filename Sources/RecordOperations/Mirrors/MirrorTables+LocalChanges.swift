internal import SQLiteSupport

/// The local changes that are left to be sent.
extension MirrorTables {
  /// A condition for a local state that differs from the common one, where `s` is the state and `b`
  /// the base.
  private static let isUnsent = """
    (s.deleted = 0 AND (b.sequence IS NULL OR b.sequence <> s.sequence) \
    OR s.deleted = 1 AND b.sequence <> 0 AND b.tag IS NOT NULL) AND ifnull(b.pending, 0) & 3 = 0
    """

  /// The states of all records with their bases, where parameter 1 is the name of the mirror.
  private static let states = """
    "_record_states" AS s LEFT JOIN "_record_mirror_bases" AS b \
    ON b.type = s.type AND b.name = s.name AND b.mirror = ?1
    """

  /// The last local tag that was given.
  func lastSequence() throws -> Int64 {
    try connection.fetchOne("SELECT seq FROM sqlite_sequence WHERE name = '_record_states'") {
      $0.integer(at: 0)
    } ?? 0
  }

  /// Returns the unsent records after a local tag and up to another one, in the order of their last
  /// edits.
  func unsent(
    after sequence: Int64, upTo end: Int64 = .max, atMost count: Int, types: [String]
  ) throws -> [(id: RecordID, sequence: Int64)] {
    let types = Set(types)
    return try connection.withCachedStatement(
      """
      SELECT s.type, s.name, s.sequence FROM \(Self.states) \
      WHERE s.sequence > ?2 AND s.sequence <= ?3 AND \(Self.isUnsent) ORDER BY s.sequence
      """
    ) { statement in
      try statement.bind([.text(mirror), .integer(sequence), .integer(end)])
      var found: [(RecordID, Int64)] = []
      while found.count < count, try statement.step() {
        let type = statement.text(at: 0) ?? ""
        guard types.contains(type) else { continue }
        found.append((RecordID(type, statement.text(at: 1) ?? ""), statement.integer(at: 2)))
      }
      return found
    }
  }

  /// Removes the entries of records that were deleted after a local tag and that the
  /// remote database has never had.
  func forgetUnsentDeletions(after sequence: Int64) throws {
    try connection.execute(
      """
      DELETE FROM "_record_mirror_bases" WHERE mirror = ?1 AND tag IS NULL AND waiting IS NULL \
      AND (type, name) IN (SELECT type, name FROM "_record_states" \
      WHERE sequence > ?2 AND deleted = 1)
      """, [.text(mirror), .integer(sequence)])
  }

  /// Moves the position in the local changes up to the first unsent record that is not marked as
  /// pending.
  func advance(_ position: inout Position) throws {
    let last = try lastSequence()
    guard last > position.examined else { return }
    let types = Set(position.types)
    let first = try connection.withCachedStatement(
      """
      SELECT s.sequence, s.type FROM \(Self.states) WHERE s.sequence > ?2 AND \(Self.isUnsent) \
      AND ifnull(b.pending, 0) & 4 = 0 ORDER BY s.sequence
      """
    ) { statement -> Int64? in
      try statement.bind([.text(mirror), .integer(position.examined)])
      while try statement.step() {
        if types.contains(statement.text(at: 1) ?? "") { return statement.integer(at: 0) }
      }
      return nil
    }
    position.examined = first.map { $0 - 1 } ?? last
  }

  /// Returns the local tag of a record and whether it was deleted; nil if the file does not know the
  /// record.
  func state(of id: RecordID) throws -> (sequence: Int64, isDeleted: Bool)? {
    try connection.fetchOne(
      "SELECT sequence, deleted FROM \"_record_states\" WHERE type = ?1 AND name = ?2",
      [.text(id.type), .text(id.name)]
    ) { ($0.integer(at: 0), $0.integer(at: 1) != 0) }
  }
}
