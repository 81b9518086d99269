public import CompositeOperations

/// Learns what has changed in a database since a token.
///
/// ```swift
/// import RecordOperations
///
/// let database = MemoryRecordDatabase()
/// let all = try await FetchChanges(in: database).run().get()
/// let since = try await FetchChanges(since: all.token, in: database).run().get()
/// for record in since.changed { print(record.id) }
/// ```
///
/// As many pages are asked for as there are. Where the database does not know any more what has changed since the
/// token, all is fetched anew, and ``FetchedChanges/startsOver`` says so: what is not among it is gone. As often as a
/// request is tried, and no oftener.
///
/// To keep what was learnt, ``applying(_:)`` hands over page by page. What goes wrong is thrown as it is.
public struct FetchChanges: ComposableOperation {
  /// Since when; nil for all that is there.
  public let token: ChangeToken?
  public let zone: RecordZone
  public let database: any RecordDatabase
  public let retries: RequestRetries

  /// - Parameters:
  ///   - token: Since when; nil for all that is there.
  ///   - database: Where.
  ///   - zone: In which part of it.
  ///   - retries: How often a request is tried.
  public init(
    since token: ChangeToken? = nil, in database: any RecordDatabase,
    zone: RecordZone = .default, retries: RequestRetries = .standard
  ) {
    self.token = token
    self.zone = zone
    self.database = database
    self.retries = retries
  }

  public var operationName: String { "fetch changes" }

  public func perform(in context: OperationContext) async throws -> FetchedChanges {
    var changed: [RecordID: DatabaseRecord] = [:]
    var deleted: Set<RecordID> = []
    var order: [RecordID] = []
    var startsOver = false
    let token = try await eachPage(in: context) { page in
      if page.startsOver {
        (changed, deleted, order, startsOver) = ([:], [], [], true)
      }
      for record in page.changed {
        changed[record.id] = record
        deleted.remove(record.id)
        order.append(record.id)
      }
      for id in page.deleted {
        changed[id] = nil
        deleted.insert(id)
        order.append(id)
      }
      context.report(changed.count + deleted.count, unit: "records")
    }
    // Each where it was told of last.
    var seen: Set<RecordID> = []
    let last = order.reversed().filter { seen.insert($0).inserted }.reversed()
    return FetchedChanges(
      changed: last.compactMap { changed[$0] }, deleted: last.filter(deleted.contains),
      token: token, startsOver: startsOver)
  }

  /// The same, with every page handed over before the next one is asked for.
  ///
  /// ```swift
  /// import RecordOperations
  ///
  /// let database = MemoryRecordDatabase()
  /// let copy = Copy()
  /// let follow = FetchChanges(since: await copy.token, in: database).applying { page in
  ///   await copy.apply(page)
  /// }
  /// let token = try await follow.run().get()
  ///
  /// actor Copy {
  ///   var records: [RecordID: DatabaseRecord] = [:]
  ///   var token: ChangeToken?
  ///
  ///   func apply(_ page: FetchedChanges) {
  ///     if page.startsOver { records = [:] }
  ///     for record in page.changed { records[record.id] = record }
  ///     for id in page.deleted { records[id] = nil }
  ///     token = page.token
  ///   }
  /// }
  /// ```
  ///
  /// Whoever keeps the token of a page together with what was in it, in one transaction, loses nothing and does nothing
  /// twice, wherever the run ends.
  ///
  /// - Parameter apply: Keeps a page. An error that it throws ends the run.
  public func applying(
    _ apply: nonisolated(nonsending) @escaping @Sendable (FetchedChanges) async throws -> Void
  ) -> some ComposableOperation<ChangeToken> {
    SimpleOperation.withContext { context in try await eachPage(in: context, apply) }.named(
      operationName)
  }

  /// Hands over every page.
  ///
  /// - Returns: The token of the last one.
  private nonisolated(nonsending) func eachPage(
    in context: OperationContext,
    _ body: nonisolated(nonsending) (FetchedChanges) async throws -> Void
  ) async throws -> ChangeToken {
    try database.capabilities.require(.changes)
    var token = token
    var startsOver = token == nil
    var number = 1
    var beginnings = 1
    while true {
      let (database, zone, since) = (database, zone, token)
      let request = ReadRequest(operationName: "page \(number)", retries: retries) {
        try await database.changes(since: since, in: zone)
      }
      let page: ChangePage
      do { page = try await context.run(request) } catch let error as RecordError {
        // A database that forgets more quickly than it tells would be asked for ever.
        guard case .tokenExpired = error.reason, token != nil, beginnings < retries.attempts else {
          throw error
        }
        beginnings += 1
        (token, startsOver) = (nil, true)
        continue
      }
      try await body(FetchedChanges(page, startsOver: startsOver))
      let isStill = page.changed.isEmpty && page.deleted.isEmpty && page.token == token
      // One that has more and gives nothing would be asked for ever.
      if !page.hasMore || isStill { return page.token }
      (token, startsOver) = (page.token, false)
      number += 1
    }
  }
}

/// What has changed in a database, all of it or a page.
public struct FetchedChanges: Sendable {
  /// The records that were saved, as they are now.
  public let changed: [DatabaseRecord]
  /// The records that were deleted.
  public let deleted: [RecordID]
  /// Up to where changes are known now.
  public let token: ChangeToken
  /// Whether this is, or begins, all that there is, and what was known before is void.
  public let startsOver: Bool

  init(changed: [DatabaseRecord], deleted: [RecordID], token: ChangeToken, startsOver: Bool) {
    self.changed = changed
    self.deleted = deleted
    self.token = token
    self.startsOver = startsOver
  }

  init(_ page: ChangePage, startsOver: Bool) {
    self.init(
      changed: page.changed, deleted: page.deleted, token: page.token, startsOver: startsOver)
  }
}
