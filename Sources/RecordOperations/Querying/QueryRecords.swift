public import CompositeOperations

/// An operation that finds all records that match a query.
///
/// ```swift
/// import RecordOperations
///
/// let database = MemoryRecordDatabase()
/// let thick = QueryRecords(
///   "Book", in: database, where: Field("pages") > 500, sortedBy: [.ascending("title")], limit: 20)
/// let books = try await thick.run().get()
/// ```
///
/// A database returns the records in pages. Each page is a request, which runs as a child operation
/// and is retried if that may help. ``records`` and ``pages`` return the same records one by one
/// and page by page, without keeping all of them.
///
/// If the database does not support the query, the operation fails before it sends a request, with
/// the cause ``RecordError/Reason/unsupported(_:)``; records are never filtered or sorted locally.
/// Every error is a ``RecordQueryError`` with the records of the previous pages.
public struct QueryRecords: ComposableOperation {
  /// The query.
  public let query: RecordQuery
  /// The database of the records.
  public let database: any RecordDatabase
  /// The maximum number of records; `nil` for all.
  public let limit: Int?
  /// How often a request is attempted.
  public let retries: RetryPolicy

  /// Creates an operation for a query.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - database: The database of the records.
  ///   - limit: The maximum number of records; `nil` for all.
  ///   - retries: How often a request is attempted.
  /// - Precondition: `limit` is not negative.
  public init(
    _ query: RecordQuery, in database: any RecordDatabase, limit: Int? = nil,
    retries: RetryPolicy = .databaseDefault
  ) {
    precondition(limit ?? 0 >= 0, "`limit` must be at least 0 (was \(limit ?? 0))")
    self.query = query
    self.database = database
    self.limit = limit
    self.retries = retries
  }

  /// Creates an operation that finds records of a type.
  ///
  /// - Parameters:
  ///   - type: The type of the records.
  ///   - database: The database of the records.
  ///   - predicate: The condition that the records meet; `nil` for all records.
  ///   - order: The order of the records.
  ///   - keys: The fields to fetch; `nil` for all.
  ///   - limit: The maximum number of records; `nil` for all.
  ///   - zone: The zone of the records.
  ///   - retries: How often a request is attempted.
  /// - Precondition: `limit` is not negative.
  public init(
    _ type: String, in database: any RecordDatabase, where predicate: RecordPredicate? = nil,
    sortedBy order: [RecordOrder] = [], keys: [String]? = nil, limit: Int? = nil,
    zone: RecordZone = .default, retries: RetryPolicy = .databaseDefault
  ) {
    self.init(
      RecordQuery(type, in: zone, where: predicate, sortedBy: order, keys: keys), in: database,
      limit: limit, retries: retries)
  }

  public var operationName: String { "query \(query.type)" }

  /// Fetches all pages.
  ///
  /// - Throws: A ``RecordQueryError`` with the records that were found and the cause.
  public func perform(in context: OperationContext) async throws -> [DatabaseRecord] {
    var found: [DatabaseRecord] = []
    var pager = QueryPager(self)
    do {
      while let request = try pager.nextRequest() {
        let page = try await context.run(request)
        found += try pager.accept(page)
        context.report(found.count, of: limit, unit: "records")
      }
    } catch { throw RecordQueryError(records: found, cause: error) }
    return found
  }

  /// The records that match, page by page. Each iteration queries again.
  public var pages: RecordPages { RecordPages(query: self) }

  /// The records that match, one by one. Pages are fetched as they are needed, and each iteration
  /// queries again.
  public var records: RecordPages.Records { RecordPages.Records(pages: pages) }
}

extension QueryRecords {
  /// Returns an operation that converts the records to values of a type.
  ///
  /// - Parameter type: The type of the values. An error that it throws for a record is the error of
  ///   the operation.
  public func decoding<Value: RecordConvertible>(
    _ type: Value.Type
  ) -> some ComposableOperation<[Value]> {
    map { records in try records.map { try Value($0) } }
  }
}

/// An error that ended a query before its last page.
public struct RecordQueryError: Error, Sendable {
  /// The records of the pages that were fetched.
  public let records: [DatabaseRecord]
  /// The error of the next page.
  public let cause: any Error
}

extension RecordQueryError: CancellationRepresenting {
  /// Whether the cause is a cancellation.
  public var representsCancellation: Bool {
    cause is CancellationError
      || (cause as? any CancellationRepresenting)?.representsCancellation == true
  }
}

extension RecordQueryError: CustomStringConvertible {
  public var description: String {
    records.isEmpty ? "\(cause)" : "after \(RecordBatch.size(records.count)): \(cause)"
  }
}
