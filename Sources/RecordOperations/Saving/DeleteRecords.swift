public import CompositeOperations

/// An operation that deletes records.
///
/// ```swift
/// import RecordOperations
///
/// let database = MemoryRecordDatabase()
/// let id = RecordID("Book", "9780141439600")
/// _ = await DeleteRecords([id], in: database, ignoringMissing: true).run()
/// ```
///
/// The result is the IDs of the deleted records. If it is created with records instead of IDs, the
/// operation deletes only records that no other writer has saved since they were read; a record
/// that was read without a tag counts as saved by another writer. The delete rules of references
/// say what happens to records that refer to a deleted one; see ``RecordReference/DeleteRule``.
///
/// Requests, limits, retries, atomicity and errors are as in ``SaveRecords``. If a reply was lost,
/// a missing record counts as deleted.
public struct DeleteRecords: ComposableOperation {
  /// The IDs of the records, each once.
  public let ids: [RecordID]
  /// The database of the records.
  public let database: any RecordDatabase
  /// Whether a missing record counts as deleted.
  public let ignoresMissing: Bool
  /// Whether either all records are deleted or none.
  public let isAtomic: Bool
  /// How often a request is attempted.
  public let retries: RetryPolicy

  private let tags: [RecordID: RecordTag]

  /// Creates an operation that deletes records, even if other writers have saved them.
  ///
  /// - Parameters:
  ///   - ids: The IDs of the records.
  ///   - database: The database of the records.
  ///   - ignoresMissing: Whether a missing record counts as deleted.
  ///   - isAtomic: Whether either all records are deleted or none.
  ///   - retries: How often a request is attempted.
  public init(
    _ ids: [RecordID], in database: any RecordDatabase,
    ignoringMissing ignoresMissing: Bool = false,
    atomic isAtomic: Bool = false, retries: RetryPolicy = .databaseDefault
  ) {
    self.init(
      ids, tags: [:], in: database, ignoringMissing: ignoresMissing, atomic: isAtomic,
      retries: retries)
  }

  /// Creates an operation that deletes records that no other writer has saved since they were read.
  ///
  /// - Parameters:
  ///   - records: The records, as they were read.
  ///   - database: The database of the records.
  ///   - ignoresMissing: Whether a missing record counts as deleted.
  ///   - isAtomic: Whether either all records are deleted or none.
  ///   - retries: How often a request is attempted.
  public init(
    _ records: [DatabaseRecord], in database: any RecordDatabase,
    ignoringMissing ignoresMissing: Bool = false, atomic isAtomic: Bool = false,
    retries: RetryPolicy = .databaseDefault
  ) {
    let tags = records.map { ($0.id, $0.tag ?? .unknown) }
    self.init(
      records.map(\.id), tags: Dictionary(tags) { $1 }, in: database,
      ignoringMissing: ignoresMissing, atomic: isAtomic, retries: retries)
  }

  private init(
    _ ids: [RecordID], tags: [RecordID: RecordTag], in database: any RecordDatabase,
    ignoringMissing ignoresMissing: Bool, atomic isAtomic: Bool, retries: RetryPolicy
  ) {
    var seen: Set<RecordID> = []
    self.ids = ids.filter { seen.insert($0).inserted }
    self.tags = tags
    self.database = database
    self.ignoresMissing = ignoresMissing
    self.isAtomic = isAtomic
    self.retries = retries
  }

  public var operationName: String { "delete \(RecordBatch.size(ids.count))" }

  /// Deletes the records.
  ///
  /// - Returns: The IDs of the deleted records.
  /// - Throws: A ``RecordBatchError`` if not all records are deleted, or the run was cancelled; a
  ///   ``RecordError`` if an atomic deletion is not supported or exceeds the limits.
  public func perform(in context: OperationContext) async throws -> [RecordID] {
    var requests = ModifyRequests(
      of: ids.map { .delete($0, ifTagged: tags[$0]) }, atomically: isAtomic, in: database,
      ignoringMissing: ignoresMissing, retries: retries)
    _ = try await requests.perform(in: context)
    return ids
  }
}
