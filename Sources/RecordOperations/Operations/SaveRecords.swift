public import CompositeOperations

/// Saves records.
///
/// ```swift
/// import RecordOperations
///
/// let database = MemoryRecordDatabase()
/// var book = DatabaseRecord("Book", "9780141439600")
/// book["title"] = "Persuasion"
/// let saved = try await SaveRecords([book], in: database).run().get()
/// ```
///
/// It ends in the records as they are now, in the order in which they were given, each with its new tag: a record that
/// is changed and saved again is one of these. The policy says what is saved of a record, and what if somebody else has
/// saved it in between; see ``SavePolicy``.
///
/// As many requests are made as the database's limits demand, one after another, in the order of the records, so one
/// that others lead to goes before them. What the database finds too much all the same is halved, down to a single
/// record. An **atomic** save is made by one request, or refused with ``RecordError/Reason/limitExceeded``.
///
/// A request is tried again after what may pass, and then only with the records that are not saved yet. Where an answer
/// was lost it is first looked which of them were saved. A record that is given more than once is saved
/// once, as if one were saved after the other.
///
/// Where not all records could be saved, the error is a ``RecordBatchError``: what became of each.
public struct SaveRecords: ComposableOperation {
  public let records: [DatabaseRecord]
  public let database: any RecordDatabase
  public let policy: SavePolicy
  public let isAtomic: Bool
  public let retries: RequestRetries

  /// - Parameters:
  ///   - records: What is saved.
  ///   - database: Where.
  ///   - policy: What of it, and under which condition.
  ///   - isAtomic: Whether all of them are saved or none.
  ///   - retries: How often a request is tried.
  public init(
    _ records: [DatabaseRecord], in database: any RecordDatabase,
    policy: SavePolicy = .ifUnchanged, atomic isAtomic: Bool = false,
    retries: RequestRetries = .standard
  ) {
    self.records = records
    self.database = database
    self.policy = policy
    self.isAtomic = isAtomic
    self.retries = retries
  }

  /// - Parameters:
  ///   - values: What is saved. They have no tags, and are saved whoever has saved them before.
  ///   - database: Where.
  ///   - policy: What of it.
  ///   - isAtomic: Whether all of them are saved or none.
  ///   - retries: How often a request is tried.
  /// - Throws: A ``FieldValueError`` if a property is no value of a field.
  public init(
    _ values: [some RecordConvertible], in database: any RecordDatabase,
    policy: SavePolicy = .allKeys, atomic isAtomic: Bool = false,
    retries: RequestRetries = .standard
  ) throws {
    self.init(
      try values.map { try $0.record() }, in: database, policy: policy, atomic: isAtomic,
      retries: retries)
  }

  public var operationName: String { "save \(RecordBatch.size(records.count))" }

  public func perform(in context: OperationContext) async throws -> [DatabaseRecord] {
    var merged: [DatabaseRecord] = []
    var places: [RecordID: Int] = [:]
    for record in records {
      if let place = places[record.id] {
        merged[place] = record.merged(over: merged[place], by: policy)
      } else {
        places[record.id] = merged.count
        merged.append(record)
      }
    }
    var requests = ModifyRequests(
      of: merged.map { .save($0, policy) }, atomically: isAtomic, in: database, retries: retries)
    let replies = try await requests.perform(in: context)
    return records.compactMap { record in
      guard let place = places[record.id], case .saved(let saved) = replies[place] else {
        return nil
      }
      return saved
    }
  }
}

extension DatabaseRecord {
  /// It with the fields of an earlier one that it would not save.
  fileprivate func merged(over earlier: DatabaseRecord, by policy: SavePolicy) -> DatabaseRecord {
    if policy == .replace { return self }
    let saved = earlier.fields(by: policy).merging(fields(by: policy)) { $1 }
    // Of one that has no tag, all that it has is saved.
    let known = tag == nil ? [:] : earlier.fields.merging(fields) { $1 }
    var merged = DatabaseRecord(id, fields: known, tag: tag, modified: modified)
    for (key, value) in saved { merged[key] = value }
    return merged
  }
}

extension RecordBatch {
  static func size(_ count: Int) -> String { count == 1 ? "1 record" : "\(count) records" }
}
