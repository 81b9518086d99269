#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// The steps of a save that all databases of tables share.
extension DatabaseRecord {
  /// Returns a record with its current tag if it was read from another program's table before that
  /// had tags, and all fields that were read are unchanged; otherwise nil.
  ///
  /// - Parameter reading: Returns the current record with these fields.
  /// - Throws: The error of `reading`.
  package func tagged(
    reading: (_ keys: [String]) throws -> DatabaseRecord?
  ) rethrows -> DatabaseRecord? {
    guard tag == nil, let read = asRead, let now = try reading(read.keys), let tag = now.tag,
      read.keys.allSatisfy({ now[$0] == read[$0] })
    else { return nil }
    var tagged = DatabaseRecord(id, fields: now.fields, tag: tag, modified: now.modified)
    tagged.edited = edited
    for key in changedKeys { tagged[key] = self[key] }
    return tagged
  }

  /// Checks that no other writer has changed the record since it was read.
  ///
  /// - Parameters:
  ///   - exists: Whether the database has the record.
  ///   - current: The tag of the record in the database.
  ///   - conflict: Returns the error for a record that has changed.
  /// - Throws: A ``RecordError``.
  package func checkUnchanged(
    exists: Bool, tag current: RecordTag?, conflict: () throws -> RecordError
  ) throws {
    if tag != nil, !exists { throw RecordError(.unknownRecord) }
    if exists, tag == nil || tag != current { throw try conflict() }
  }

  /// Returns the record for the reply to a save, as far as its current fields are known.
  ///
  /// - Parameters:
  ///   - stored: The values that were written, as the database has them now.
  ///   - policy: The policy of the save.
  ///   - tag: The new tag.
  ///   - modified: The time of the save.
  ///   - reading: Returns the current record with these fields.
  /// - Throws: The error of `reading`.
  package func saved(
    _ stored: [String: FieldValue], by policy: SavePolicy, tag: RecordTag, modified: Date?,
    reading: (_ keys: [String]) throws -> DatabaseRecord?
  ) rethrows -> DatabaseRecord {
    var fields = fields.merging(stored) { $1 }
    if policy == .replace { fields = fields.filter { has($0.key) } }
    if policy == .changedKeys {
      let others = keys.filter { originals[$0] == nil }
      if !others.isEmpty, let now = try reading(others) { fields.merge(now.fields) { $1 } }
    }
    return DatabaseRecord(id, fields: fields, tag: tag, modified: modified)
  }
}

extension RecordBatch {
  /// Returns the replies to an atomic batch, one of whose changes has failed.
  package func replies(failing index: Int, with error: RecordError) -> [RecordReply] {
    changes.enumerated().map { other, change in
      .failed(other == index ? error : RecordError(.batchFailed, of: change.id))
    }
  }
}

extension RecordError {
  /// Returns an error with the record that prevents a deletion: its reference is to the deleted
  /// record, or to a record that would be deleted with it.
  ///
  /// The search stops at 10,000 records that would be deleted, too, to limit its time.
  ///
  /// - Parameters:
  ///   - id: The record to delete.
  ///   - references: Returns the records whose foreign keys refer to a record, with their rules.
  /// - Throws: The error of `references`.
  package static func violation(
    byDeleting id: RecordID,
    _ references: (_ id: RecordID) throws -> [(from: RecordID, rule: RecordReference.DeleteRule)]
  ) rethrows -> RecordError? {
    var deleted: Set<RecordID> = [id]
    var unvisited = [id]
    while let next = unvisited.popLast(), deleted.count < 10_000 {
      for (found, rule) in try references(next) where !deleted.contains(found) {
        switch rule {
        case .deny: return RecordError(.referenceViolated(found))
        case .cascade:
          deleted.insert(found)
          unvisited.append(found)
        case .keep, .nullify: break
        }
      }
    }
    return nil
  }
}
