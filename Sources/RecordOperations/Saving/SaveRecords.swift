public import CompositeOperations

/// An operation that saves records.
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
/// The result is the saved records in their current state, in the given order. Each has a new tag,
/// which is its version. To change a record again, change the record in the result. The policy says
/// which fields are saved, and what happens if another writer has saved the record; see
/// ``SavePolicy``.
///
/// The operation splits the records into as many requests as the limits of the database require.
/// The requests run one after another, in the order of the records, so put a record before the
/// records that refer to it. A request that the database rejects as too large is split into halves,
/// down to a single record. An **atomic** save is a single request. If this request is too large,
/// the save fails with ``RecordError/Reason/limitExceeded``.
///
/// A request that failed temporarily is retried without the records that have been saved. If the
/// reply to a request was lost, the operation first looks up which records the request has saved.
///
/// Records with the same ID are merged into one record, which is saved once. If several of them set
/// the same field, the value of the last one is saved. With ``SavePolicy/replace``, only the last
/// of them is saved.
///
/// If not all records could be saved, the error is a ``RecordBatchError`` with the result of each
/// record.
public struct SaveRecords: ComposableOperation {
  /// The records to save.
  public let records: [DatabaseRecord]
  /// The database of the records.
  public let database: any RecordDatabase
  /// The fields that are saved, and the condition for the save.
  public let policy: SavePolicy
  /// Whether either all records are saved or none.
  public let isAtomic: Bool
  /// How often a request is attempted.
  public let retries: RetryPolicy

  /// Creates an operation that saves records.
  ///
  /// - Parameters:
  ///   - records: The records to save.
  ///   - database: The database of the records.
  ///   - policy: The fields that are saved, and the condition for the save.
  ///   - isAtomic: Whether either all records are saved or none.
  ///   - retries: How often a request is attempted.
  public init(
    _ records: [DatabaseRecord], in database: any RecordDatabase,
    policy: SavePolicy = .ifUnchanged, atomic isAtomic: Bool = false,
    retries: RetryPolicy = .databaseDefault
  ) {
    self.records = records
    self.database = database
    self.policy = policy
    self.isAtomic = isAtomic
    self.retries = retries
  }

  /// Creates an operation that saves values as records.
  ///
  /// - Parameters:
  ///   - values: The values to save. Their records have no tags, so by default they are saved even
  ///     if another writer has saved records with the same IDs.
  ///   - database: The database of the records.
  ///   - policy: The fields that are saved, and the condition for the save.
  ///   - isAtomic: Whether either all records are saved or none.
  ///   - retries: How often a request is attempted.
  /// - Throws: A ``FieldValueError`` if a property has a value that no field can hold; any error
  ///   that the type throws when it is encoded.
  public init(
    _ values: [some RecordConvertible], in database: any RecordDatabase,
    policy: SavePolicy = .allKeys, atomic isAtomic: Bool = false,
    retries: RetryPolicy = .databaseDefault
  ) throws {
    self.init(
      try values.map { try $0.record() }, in: database, policy: policy, atomic: isAtomic,
      retries: retries)
  }

  public var operationName: String { "save \(RecordBatch.size(records.count))" }

  /// Saves the records.
  ///
  /// - Returns: The saved records in their current state, in the given order.
  /// - Throws: A ``RecordBatchError`` if not all records are saved. If the cause is a cancellation,
  ///   the run ends as cancelled, and this error is its
  ///   ``CompositeOperations/OperationRun/lateOutcome``. A ``RecordError`` if an atomic save is not
  ///   supported or exceeds the limits.
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
  /// Returns the record with the fields of an earlier one, unless it saves these fields itself.
  fileprivate func merged(over earlier: DatabaseRecord, by policy: SavePolicy) -> DatabaseRecord {
    if policy == .replace { return self }
    let saved = earlier.fields(by: policy).merging(fields(by: policy)) { $1 }
    // All fields of a record without a tag are saved.
    let known = tag == nil ? [:] : earlier.fields.merging(fields) { $1 }
    var merged = DatabaseRecord(id, fields: known, tag: tag, modified: modified)
    for (key, value) in saved { merged[key] = value }
    return merged
  }
}
