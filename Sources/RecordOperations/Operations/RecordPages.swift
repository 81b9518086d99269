public import CompositeOperations

/// What a query finds, page by page: ``QueryRecords/pages``.
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
/// A page is asked for when it is wanted. Its request is tried again as in the operation, and is a run of its own in the
/// environment that is given. What goes wrong is thrown as it is, and ends the iteration.
public struct RecordPages: AsyncSequence, Sendable {
  let query: QueryRecords
  private var environment = OperationEnvironment()

  init(query: QueryRecords) { self.query = query }

  /// The same, with requests that run in an environment: with its clock and its observers.
  public func requesting(in environment: OperationEnvironment) -> RecordPages {
    var pages = self
    pages.environment = environment
    return pages
  }

  public struct AsyncIterator: AsyncIteratorProtocol {
    private var walk: PageWalk?
    private let environment: OperationEnvironment

    init(_ pages: RecordPages) {
      walk = PageWalk(pages.query)
      environment = pages.environment
    }

    public mutating func next() async throws -> [DatabaseRecord]? {
      guard var walk else { return nil }
      self.walk = nil
      guard let request = try walk.nextRequest() else { return nil }
      let records = try walk.take(try await request.run(in: environment).get())
      self.walk = walk
      return records
    }
  }

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

  /// What a query finds, record by record: ``QueryRecords/records``.
  public struct Records: AsyncSequence, Sendable {
    public typealias Element = DatabaseRecord

    let pages: RecordPages

    public struct AsyncIterator: AsyncIteratorProtocol {
      var pages: RecordPages.AsyncIterator
      private var page: ArraySlice<DatabaseRecord> = []

      init(_ pages: RecordPages) { self.pages = pages.makeAsyncIterator() }

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
