public import CompositeOperations

/// Finds records, all that there are.
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
/// A database gives what it finds in pages; every page is a request, seen as an operation below this one, and tried
/// again where that may help. ``records`` and ``pages`` give the same one after another, for as many as there are.
///
/// What the database cannot do is refused before anything is sent, with ``RecordError/Reason/unsupported(_:)``: nothing
/// is filtered or sorted here. What goes wrong later is a ``RecordQueryError`` with the records of the pages before.
public struct QueryRecords: ComposableOperation {
  public let query: RecordQuery
  public let database: any RecordDatabase
  /// How many records are wanted at most; nil for all.
  public let limit: Int?
  public let retries: RequestRetries

  /// - Parameters:
  ///   - query: What is looked for.
  ///   - database: Where.
  ///   - limit: How many records are wanted at most; nil for all.
  ///   - retries: How often a request is tried.
  /// - Precondition: The limit is not negative.
  public init(
    _ query: RecordQuery, in database: any RecordDatabase, limit: Int? = nil,
    retries: RequestRetries = .standard
  ) {
    precondition(limit ?? 0 >= 0, "`limit` must be at least 0 (was \(limit ?? 0))")
    self.query = query
    self.database = database
    self.limit = limit
    self.retries = retries
  }

  /// - Parameters:
  ///   - type: The type of the records.
  ///   - database: Where.
  ///   - predicate: What has to be so of them; nil if all are looked for.
  ///   - order: Which is the first.
  ///   - keys: The fields that are wanted; nil for all.
  ///   - limit: How many records are wanted at most; nil for all.
  ///   - zone: In which part of the database.
  ///   - retries: How often a request is tried.
  /// - Precondition: The limit is not negative.
  public init(
    _ type: String, in database: any RecordDatabase, where predicate: RecordPredicate? = nil,
    sortedBy order: [RecordOrder] = [], keys: [String]? = nil, limit: Int? = nil,
    zone: RecordZone = .default, retries: RequestRetries = .standard
  ) {
    self.init(
      RecordQuery(type, in: zone, where: predicate, sortedBy: order, keys: keys), in: database,
      limit: limit, retries: retries)
  }

  public var operationName: String { "query \(query.type)" }

  public func perform(in context: OperationContext) async throws -> [DatabaseRecord] {
    var found: [DatabaseRecord] = []
    var walk = PageWalk(self)
    do {
      while let request = try walk.nextRequest() {
        let page = try await context.run(request)
        found += try walk.take(page)
        context.report(found.count, of: limit, unit: "records")
      }
    } catch { throw RecordQueryError(records: found, cause: error) }
    return found
  }

  /// What is found, page by page. Each iteration asks anew.
  public var pages: RecordPages { RecordPages(query: self) }

  /// What is found, record by record, as far as somebody asks for more. Each iteration asks anew.
  public var records: RecordPages.Records { RecordPages.Records(pages: pages) }
}

extension QueryRecords {
  /// What is found, as values of a type.
  ///
  /// - Parameter type: What is made of each record. What it throws is the error.
  public func decoding<Value: RecordConvertible>(
    _ type: Value.Type
  ) -> some ComposableOperation<[Value]> {
    map { records in try records.map { try Value($0) } }
  }
}

/// A query did not come to its end.
public struct RecordQueryError: Error, Sendable {
  /// The records of the pages that came.
  public let records: [DatabaseRecord]
  /// Why no other page did.
  public let cause: any Error
}

extension RecordQueryError: CancellationRepresenting {
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
