internal import CompositeOperations
internal import SQLiteSupport

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The ways out of a state that rounds alone do not change: a record that is rejected again and again, or databases that
/// differ. Each of them waits for a running round.
extension RecordMirror {
  /// Discards the local edits of records: each takes the last state that both databases had in common, or is
  /// deleted if the remote database has never had it. The next round fetches what has changed there since.
  ///
  /// - Parameter records: The records. Those without local edits stay as they are.
  /// - Returns: The number of records that have changed.
  /// - Throws: A ``RecordError`` if the file cannot be written, or if it refuses one of the states: then no record
  ///   has changed; `CancellationError`.
  @discardableResult
  public func discardLocalEdits(of records: [RecordID]) async throws -> Int {
    try await repair(orReturn: 0) { store in
      let count = try store.discardLocalEdits(of: records)
      guard !store.connection.hasDeferredViolations else {
        throw RecordError(
          .invalid(
            "the edits cannot be discarded: another local record refers to one of the records"))
      }
      return count
    }
  }

  /// Sends all fields of records in the next round, as if they had been edited here. It is of use for a
  /// remote database that was restored from a backup. If a record has also changed there, the policies decide.
  ///
  /// - Parameter records: The records. Those that are not here are ignored.
  /// - Throws: A ``RecordError`` if the file cannot be written; `CancellationError`.
  public func resend(_ records: [RecordID]) async throws {
    try await repair(orReturn: ()) { store in
      for id in records where try store.mirrored.contains(id.type) && store.local(id) != nil {
        var base = try store.tables.base(of: id) ?? MirrorBase()
        (base.sequence, base.sent) = (MirrorBase.noSequence, nil)
        base.pending.formUnion([.unsent, .whole])
        try store.tables.save(base, of: id)
      }
    }
  }

  /// Fetches all remote records in the next round, and deletes the local ones that the remote database does not have.
  /// Local edits that are not sent yet stay.
  ///
  /// - Throws: A ``RecordError`` if the file cannot be written; `CancellationError`.
  public func fetchAllAgain() async throws {
    try await repair(orReturn: ()) { store in
      guard var position = try store.tables.position() else { return }
      position.token = nil
      try store.tables.save(position)
    }
  }

  /// Removes what the mirror knows from the local file, with its lost values and rejections. The records
  /// of both databases stay as they are; a later round of such a mirror begins anew, and merges them.
  ///
  /// - Throws: A ``RecordError`` if the file cannot be written; `CancellationError`.
  public func removeMirror() async throws {
    try await repair(orReturn: ()) { try $0.tables.removeMirror() }
  }

  /// Removes old entries of ``lostValues()``, those of conflicts before a date.
  ///
  /// - Returns: The number of removed entries.
  /// - Throws: A ``RecordError`` if the file cannot be written; `CancellationError`.
  @discardableResult
  public func removeLostValues(before date: Date) async throws -> Int {
    let name = name
    return try await local.write { connection in
      let tables = MirrorTables(connection: connection, mirror: name)
      return try tables.exist() ? tables.removeLostValues(before: date) : 0
    }
  }

  /// Changes the state of the mirror in one transaction.
  ///
  /// - Parameter none: The result if the mirror has no state yet.
  private func repair<Result: Sendable>(
    orReturn none: Result, _ body: @escaping @Sendable (inout MirrorStore) throws -> Result
  ) async throws -> Result {
    let lock = try await acquireLock()
    defer { withExtendedLifetime(lock) {} }
    return try await local.write { connection in
      var store = MirrorStore(connection, of: self, decisions: [:])
      guard try store.tables.exist() else { return none }
      return try body(&store)
    }
  }
}

extension MirrorStore {
  /// - Returns: The number of records that have changed.
  fileprivate mutating func discardLocalEdits(of records: [RecordID]) throws -> Int {
    // Records that refer to each other can be discarded together.
    try connection.execute("PRAGMA defer_foreign_keys = ON")
    var (rest, count) = (records.filter { mirrored.contains($0.type) }, 0)
    while !rest.isEmpty {
      var refusal: RecordError?
      let refused = try rest.filter { id in
        do {
          if try savepoint({ store in try store.discardLocalEdit(of: id) }) { count += 1 }
          return false
        } catch {
          refusal = try connection.failure(error, of: id)
          return true
        }
      }
      // Another record may have had a unique value.
      if let refusal, refused.count == rest.count { throw refusal }
      rest = refused
    }
    return count
  }

  /// - Returns: Whether the record has changed.
  private mutating func discardLocalEdit(of id: RecordID) throws -> Bool {
    let local = try local(id)
    guard var base = try tables.base(of: id), base.tag != nil else {
      guard local != nil else { return false }
      if let other = try referrer(to: id) {
        throw RecordError(
          .invalid(
            "it cannot be discarded, because \(other) refers to it; discard the edits of that record first"
          ))
      }
      _ = try connection.apply(.delete(id, ifTagged: nil))
      try tables.removeBase(of: id)
      return true
    }
    guard var record = local else {
      if base.sequence == MirrorBase.notStored { return false }
      let isMissing = base.pending.contains(.missing)
      (base.sequence, base.sent, base.pending) = (MirrorBase.notStored, nil, [])
      try tables.save(base, of: id)
      try integrate([DatabaseRecord(id, fields: base.fields, tag: base.tag)])
      // The remote database does not have it any more.
      if isMissing { try tables.markMissing(id) }
      return true
    }
    if record.sequence == base.sequence, !base.pending.contains(.unsent) { return false }
    for key in record.keys { record[key] = base.fields[key] ?? .null }
    let saved = try save(record)
    (base.sequence, base.sent) = (saved.sequence, nil)
    base.pending.subtract([.unsent, .whole])
    if base.waiting == nil { (base.rejection, base.rejected) = (nil, nil) }
    try tables.save(base, of: id)
    return true
  }

  /// Returns a record with a foreign key to another one; nil if there is none.
  private func referrer(to id: RecordID) throws -> RecordID? {
    for table in try connection.tables().compactMap({ try connection.table($0) }) {
      for column in table.columns {
        guard case .foreignKey(id.type, _) = column.meaning else { continue }
        let others = try connection.rows(of: table, at: column, referencing: id.name)
        if let other = others.first(where: { $0 != id }) { return other }
      }
    }
    return nil
  }
}
