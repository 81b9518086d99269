public import CompositeOperations

/// Deletes records.
///
/// ```swift
/// import RecordOperations
///
/// let database = MemoryRecordDatabase()
/// let id = RecordID("Book", "9780141439600")
/// _ = await DeleteRecords([id], in: database, ignoringMissing: true).run()
/// ```
///
/// It ends in the names of the records that are gone. Given records instead of names, it deletes those alone that nobody
/// else has saved since they were read; one that was read without a tag counts as saved by somebody else. What becomes of
/// others that lead to them, those say; see ``RecordReference/DeleteRule``.
///
/// In requests, limits, retries, and what is atomic it is as ``SaveRecords``, and so is its error. Where an answer was
/// lost, a record that is not there counts as deleted.
public struct DeleteRecords: ComposableOperation {
  public let ids: [RecordID]
  public let database: any RecordDatabase
  /// Whether a record that is not there counts as deleted.
  public let ignoresMissing: Bool
  public let isAtomic: Bool
  public let retries: RequestRetries

  private let tags: [RecordID: RecordTag]

  /// Deletes records, whoever has saved them.
  ///
  /// - Parameters:
  ///   - ids: Their names.
  ///   - database: Where.
  ///   - ignoresMissing: Whether a record that is not there counts as deleted.
  ///   - isAtomic: Whether all of them are deleted or none.
  ///   - retries: How often a request is tried.
  public init(
    _ ids: [RecordID], in database: any RecordDatabase,
    ignoringMissing ignoresMissing: Bool = false,
    atomic isAtomic: Bool = false, retries: RequestRetries = .standard
  ) {
    self.init(
      ids, tags: [:], in: database, ignoringMissing: ignoresMissing, atomic: isAtomic,
      retries: retries)
  }

  /// Deletes records that nobody else has saved since they were read.
  ///
  /// - Parameters:
  ///   - records: What was read.
  ///   - database: Where.
  ///   - ignoresMissing: Whether a record that is not there counts as deleted.
  ///   - isAtomic: Whether all of them are deleted or none.
  ///   - retries: How often a request is tried.
  public init(
    _ records: [DatabaseRecord], in database: any RecordDatabase,
    ignoringMissing ignoresMissing: Bool = false, atomic isAtomic: Bool = false,
    retries: RequestRetries = .standard
  ) {
    let tags = records.map { ($0.id, $0.tag ?? .unknown) }
    self.init(
      records.map(\.id), tags: Dictionary(tags) { $1 }, in: database,
      ignoringMissing: ignoresMissing, atomic: isAtomic, retries: retries)
  }

  private init(
    _ ids: [RecordID], tags: [RecordID: RecordTag], in database: any RecordDatabase,
    ignoringMissing ignoresMissing: Bool, atomic isAtomic: Bool, retries: RequestRetries
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

  public func perform(in context: OperationContext) async throws -> [RecordID] {
    var requests = ModifyRequests(
      of: ids.map { .delete($0, ifTagged: tags[$0]) }, atomically: isAtomic, in: database,
      ignoringMissing: ignoresMissing, retries: retries)
    _ = try await requests.perform(in: context)
    return ids
  }
}
