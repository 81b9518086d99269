public import CompositeOperations

/// The pages of a query: ``QueryRecords/pages``.
///
/// ```swift
/// import RecordOperations
///
/// let database = MemoryRecordDatabase()
/// for try await page in QueryRecords("Book", in: database).pages {
///   print(page.count)
/// }
/// ```
///
/// A page is requested when it is needed. Its request is retried as in the operation, and is a
/// separate run in the environment of ``requesting(in:)``. An error is thrown unchanged and ends
/// the iteration.
public struct RecordPages: AsyncSequence, Sendable {
  let query: QueryRecords
  private var environment = OperationEnvironment()

  init(query: QueryRecords) { self.query = query }

  /// Returns the same pages, requested in an environment with its clock and observers.
  ///
  /// - Parameter environment: The environment of the requests.
  public func requesting(in environment: OperationEnvironment) -> RecordPages {
    var pages = self
    pages.environment = environment
    return pages
  }

  /// An iterator over the pages of a query.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private var pager: QueryPager?
    private let environment: OperationEnvironment

    init(_ pages: RecordPages) {
      pager = QueryPager(pages.query)
      environment = pages.environment
    }

    /// Fetches the next page; `nil` after the last one.
    ///
    /// - Throws: A ``RecordError``, and any other error of the database; `CancellationError`.
    public mutating func next() async throws -> [DatabaseRecord]? {
      guard var pager else { return nil }
      self.pager = nil
      guard let request = try pager.nextRequest() else { return nil }
      let records = try pager.accept(try await request.run(in: environment).get())
      self.pager = pager
      return records
    }
  }

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

  /// The records of a query, one by one: ``QueryRecords/records``.
  public struct Records: AsyncSequence, Sendable {
    public typealias Element = DatabaseRecord

    let pages: RecordPages

    /// An iterator over the records of a query.
    public struct AsyncIterator: AsyncIteratorProtocol {
      var pages: RecordPages.AsyncIterator
      private var page: ArraySlice<DatabaseRecord> = []

      init(_ pages: RecordPages) { self.pages = pages.makeAsyncIterator() }

      /// Returns the next record, and fetches a page if needed; `nil` after the last one.
      ///
      /// - Throws: A ``RecordError``, and any other error of the database; `CancellationError`.
      public mutating func next() async throws -> DatabaseRecord? {
        while page.isEmpty {
          guard let next = try await pages.next() else { return nil }
          page = next[...]
        }
        return page.popFirst()
      }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pages) }
  }
}
