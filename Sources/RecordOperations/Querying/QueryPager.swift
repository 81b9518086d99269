internal import CompositeOperations

/// The pagination of a query: the next request, and the records of its page.
struct QueryPager {
  private let query: QueryRecords
  private var count = 0
  private var number = 0
  private var cursor: RecordCursor?
  private var isExhausted = false

  init(_ query: QueryRecords) { self.query = query }

  /// Returns the request for the next page, or `nil` if there is none.
  ///
  /// - Throws: A ``RecordError`` if the query is invalid or not supported by the database.
  mutating func nextRequest() throws -> (any ComposableOperation<RecordPage>)? {
    if number == 0 {
      if let reason = query.query.predicate?.impossibility { throw RecordError(.invalid(reason)) }
      try query.database.capabilities.require(query.query.needs)
    }
    let wanted = min(query.database.limits.page, query.limit.map { $0 - count } ?? .max)
    if isExhausted || wanted == 0 { return nil }
    number += 1
    let (cursor, database, query) = (cursor, query.database, query.query)
    return readRequest("page \(number)", retries: self.query.retries) {
      try await database.query(query, after: cursor, atMost: wanted)
    }
  }

  /// Accepts a page.
  ///
  /// - Returns: Its records, up to the limit of the query.
  /// - Throws: A ``RecordError`` if the page has the same cursor as the previous one.
  mutating func accept(_ page: RecordPage) throws(RecordError) -> [DatabaseRecord] {
    if let next = page.cursor, next == cursor {
      throw RecordError(
        .invalid("the database returned the same cursor twice, after page \(number)"))
    }
    cursor = page.cursor
    isExhausted = page.cursor == nil
    let records = Array(page.records.prefix(query.limit.map { $0 - count } ?? .max))
    count += records.count
    return records
  }
}
