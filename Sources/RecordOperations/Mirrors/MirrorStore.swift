internal import SQLiteSupport

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Brings remote states into the local file, in one transaction.
struct MirrorStore {
  let connection: SQLiteConnection
  let tables: MirrorTables
  let policy: ConflictPolicy
  let deletions: DeletionPolicy
  let otherDatabase: OtherDatabasePolicy
  /// The mirrored types.
  let mirrored: Set<String>
  private let now = Date().toTheMillisecond
  /// The decisions of the caller about the conflicts of this transaction.
  let decisions: [RecordID: MirrorDecision]
  /// The changes to report after the commit.
  private(set) var changes: [StoredChange] = []
  /// The number of records that were inserted as they are, and are in step.
  private(set) var insertedCount: Int64 = 0
  /// The conflicts about which the caller has not decided yet.
  var undecided: [MirrorConflict] = []
  /// The values of records that were set aside, until the records are saved.
  var setAside: [RecordID: [String: FieldValue]] = [:]

  init(
    _ connection: SQLiteConnection, of mirror: RecordMirror, decisions: [RecordID: MirrorDecision]
  ) {
    self.connection = connection
    tables = MirrorTables(connection: connection, mirror: mirror.name)
    (policy, deletions, otherDatabase) = (mirror.conflicts, mirror.deletions, mirror.otherDatabase)
    mirrored = Set(mirror.types)
    self.decisions = decisions
  }

  mutating func report(_ change: MirrorChange) { changes.append(.one(change)) }

  /// Reports records that were inserted as they are, and are in step.
  ///
  /// - Parameter sequence: The local tag before that of the first record.
  mutating func reportInserted(_ records: [DatabaseRecord], after sequence: Int64) {
    insertedCount += Int64(records.count)
    changes.append(.inserted(records, after: sequence))
  }

  /// Prepares for all records of the remote database.
  ///
  /// - Parameter remote: The ID of the remote database.
  /// - Throws: A ``RecordError`` if it is another one, and the policy is to stop.
  mutating func startOver(in remote: String?) throws {
    guard var position = try tables.position() else { return }
    if position.remote == remote {
      // A record that the database does not report was deleted there.
      try tables.markAllMissing()
      return
    }
    position.examined = 0
    if let known = position.remote {
      switch otherDatabase {
      case .merge: break
      case .stop: throw Self.otherDatabase(known: known, found: remote)
      case .replaceLocal:
        try deleteLocalRecords()
        position.examined = try tables.lastSequence()
      }
    }
    // Another database has nothing in common with this file, and has deleted nothing.
    try tables.forgetAll()
    position.remote = remote
    try tables.save(position)
  }

  /// Returns the error for another remote database.
  ///
  /// - Parameters:
  ///   - known: The ID of the source of the records.
  ///   - found: The ID of the remote database.
  static func otherDatabase(known: String, found: String?) -> RecordError {
    RecordError(
      .otherDatabase(
        """
        the remote database is another one (\(found ?? "without an ID")) than the source of the records (\(known)): for \
        example, the account has changed, or the database was created again. Choose otherDatabase: .merge to send all \
        local records to it, or .replaceLocal to replace them by its records
        """))
  }

  /// Stores the ID of the remote database.
  func know(_ remote: String) throws {
    guard var position = try tables.position() else { return }
    position.remote = remote
    try tables.save(position)
  }

  // MARK: Several records

  /// The stages of a pull.
  enum Stage {
    /// More records may follow.
    case page
    /// All records were fetched, and deletions follow.
    case fetched
    /// All deletions were made, so a record that still has to wait is reported as rejected.
    case last
  }

  /// Brings remote states into the local file. A record that cannot be stored, or that refers to a
  /// record that is not here yet, waits; records that refer to each other are stored together.
  ///
  /// - Parameters:
  ///   - records: In an order in which each follows those that it refers to, where possible.
  ///   - isFirst: Whether no record is expected here.
  mutating func integrate(
    _ records: [DatabaseRecord], at stage: Stage = .page, isFirst: Bool = false
  ) throws {
    var waiting = records.count > 1 ? try insertNew(records, isFirst: isFirst) : records
    var errors: [RecordID: RecordError] = [:]
    while !waiting.isEmpty {
      let count = waiting.count
      var holders: [RecordID: RecordID] = [:]
      waiting = try waiting.filter { record in
        guard case .refused(let error, let holder) = try attempt(record) else { return false }
        (errors[record.id], holders[record.id]) = (error, holder?.id)
        return true
      }
      if waiting.count == count {
        waiting = try exchange(waiting, holders)
        if waiting.count == count { break }
      }
    }
    if waiting.isEmpty { return }
    if stage != .page, try undoDeletions(preventing: Array(errors.values)) {
      return try integrate(waiting, at: stage)
    }
    let references = waiting.filter { errors[$0.id]?.isReferenceViolation == true }
    let isTogether = try integrateTogether(references)
    for record in waiting where !isTogether || errors[record.id]?.isReferenceViolation != true {
      try wait(record, rejection: stage == .last ? errors[record.id] : nil)
    }
  }

  /// Undoes the unsent local deletions of records that remote states refer to: an edit wins.
  /// Otherwise the remote database would delete the other records, too.
  ///
  /// - Returns: Whether there were any.
  private mutating func undoDeletions(preventing errors: [RecordError]) throws -> Bool {
    var isUndone = false
    for error in errors {
      guard case .referenceViolated(let id) = error.reason, mirrored.contains(id.type),
        try tables.state(of: id)?.isDeleted == true, let base = try tables.base(of: id),
        base.tag != nil, base.sequence != MirrorBase.notStored, !base.pending.contains(.missing)
      else { continue }
      try undoDeletion(of: id, base)
      isUndone = true
    }
    return isUndone
  }

  /// Stores a record again that was deleted locally.
  mutating func undoDeletion(of id: RecordID, _ base: MirrorBase) throws {
    try lose(nil, of: id, from: .local)
    var base = base
    base.sequence = MirrorBase.notStored
    base.pending = []
    try tables.save(base, of: id)
    try integrate([DatabaseRecord(id, fields: base.fields, tag: base.tag)])
  }

  /// Stores a record, unless the file refuses it.
  mutating func attempt(_ record: DatabaseRecord) throws -> UniqueAttempt<Void> {
    do {
      try savepoint(checkingReferencesOf: record) { store in try store.integrate(record) }
      return setAside[record.id] == nil ? .saved(()) : .stays
    } catch {
      let holder = (error as? UniqueViolation)?.holder
      return .refused(try connection.failure(error, of: record.id), holder: holder)
    }
  }

  /// Stores records that refer to each other.
  ///
  /// - Returns: False, without a change, if one of them refers to a record that is not here.
  private mutating func integrateTogether(_ records: [DatabaseRecord]) throws -> Bool {
    guard records.count > 1 else { return false }
    return try withDeferredReferences(of: records[0].id) { store in
      for record in records { try store.integrate(record) }
    }
  }

  /// Runs a body in a savepoint in which foreign keys may be violated until its end.
  ///
  /// - Returns: False, without a change, if one is still violated, or if the body throws an error
  ///   about a record.
  mutating func withDeferredReferences(
    of id: RecordID, _ body: (inout MirrorStore) throws -> Void
  ) throws -> Bool {
    struct Incomplete: Error {}
    try connection.execute("PRAGMA defer_foreign_keys = ON")
    do {
      try savepoint { store in
        try body(&store)
        if store.connection.hasDeferredViolations { throw Incomplete() }
      }
    } catch {
      try connection.execute("PRAGMA defer_foreign_keys = OFF")
      if !(error is Incomplete) { _ = try connection.failure(error, of: id) }
      return false
    }
    try connection.execute("PRAGMA defer_foreign_keys = OFF")
    return true
  }

  /// Runs a body in a savepoint. A foreign key that the schema defers to the end of the transaction
  /// is enforced, too: one record must not prevent the others.
  private mutating func savepoint(
    checkingReferencesOf record: DatabaseRecord, _ body: (inout MirrorStore) throws -> Void
  ) throws {
    try savepoint { store in
      try body(&store)
      guard store.connection.hasDeferredViolations else { return }
      let missing = try record.foreignKeys.first { try store.local($0.id) == nil }
      throw RecordError(.referenceViolated(missing?.id ?? record.id))
    }
  }

  /// Runs a body in a savepoint. If it throws, nothing is reported either.
  mutating func savepoint<Result>(_ body: (inout MirrorStore) throws -> Result) throws -> Result {
    let (reported, questions, inserted) = (changes.count, undecided.count, insertedCount)
    let (connection, setAside) = (connection, setAside)
    do { return try connection.savepoint { try body(&self) } } catch {
      changes.removeLast(changes.count - reported)
      undecided.removeLast(undecided.count - questions)
      insertedCount = inserted
      self.setAside = setAside
      throw error
    }
  }

  /// Keeps a remote state that cannot be stored locally.
  private mutating func wait(_ record: DatabaseRecord, rejection: RecordError?) throws {
    var base = try tables.base(of: record.id) ?? MirrorBase()
    let isNews = base.waiting.map { !record.hasSameFields(as: $0.fields) } ?? true
    let text = rejection?.reason.description
    if let rejection, isNews || base.rejection != text { report(.rejected(rejection)) }
    // A record that waits without effect is not written in each round.
    if !isNews, text == nil || base.rejection == text { return }
    base.waiting = (record.tag, record.fields)
    base.pending.insert(.waiting)
    base.pending.subtract([.missing, .unread])
    (base.rejection, base.rejected) = (text, nil)
    try tables.save(base, of: record.id)
  }

  /// Keeps and reports a value that lost a conflict, or a deletion.
  mutating func lose(
    _ field: String?, of record: RecordID, _ lost: FieldValue = .null, kept: FieldValue = .null,
    from side: LostValue.Side
  ) throws {
    let value = LostValue(
      record: record, field: field, lost: lost, kept: kept, side: side, date: now)
    try tables.save(value)
    report(.lost(value))
  }
}

/// What a transaction has changed, for the listeners of a mirror.
enum StoredChange: Sendable {
  case one(MirrorChange)
  /// New records. Their local tags follow the given one, in order.
  case inserted([DatabaseRecord], after: Int64)

  /// A change for each record. Computed only for listeners.
  var each: [MirrorChange] {
    switch self {
    case .one(let change): [change]
    case .inserted(let records, let sequence):
      records.enumerated().map { index, record in
        .saved(record.tagged(RecordTag("\(sequence + Int64(index) + 1)")))
      }
    }
  }
}

extension RecordError {
  fileprivate var isReferenceViolation: Bool {
    if case .referenceViolated = reason { true } else { false }
  }
}

extension DatabaseRecord {
  /// The local tag as a number.
  var sequence: Int64 { tag.flatMap { Int64($0.description) } ?? MirrorBase.notStored }
}
