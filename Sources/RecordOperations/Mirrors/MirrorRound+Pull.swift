internal import CompositeOperations
internal import SQLiteSupport

/// Fetching and storing remote changes.
extension MirrorRound {
  /// Fetches the changes of the remote database and merges them into the local file.
  nonisolated(nonsending) func pull() async throws {
    let mirror = mirror
    // Before the changes: a column that is added meanwhile is new in the next round.
    let changed = try await changedTables()
    let unread = try await mirror.local.read { connection in
      try MirrorTables(connection: connection, mirror: mirror.name)
        .pending(.unread, types: mirror.types)
    }
    if mirror.remote.capabilities.contains(.changes) {
      let token = try await mirror.local.read { connection in
        try MirrorTables(connection: connection, mirror: mirror.name).position()?.token
      }
      let fetch = FetchChanges(since: token, in: mirror.remote, retries: mirror.retries)
      _ = try await context.run(
        SimpleOperation.withContext { context in try await self.store(fetch, in: context) }
          .named(fetch.operationName))
    } else {
      count { $0.usesChanges = false }
      let identity = try await mirror.remote.identity()
      try await store { store in try store.startOver(in: identity) }
      for type in mirror.types { try await queryAll(type) }
    }
    try await lookUp(unread)
    for (type, table) in changed {
      try await queryAll(type)
      try await store { store in try store.tables.save(columns: table.columns, of: type) }
    }
    let types = mirror.types
    let isDone = try await mirror.local.read { connection in
      try MirrorTables(connection: connection, mirror: mirror.name)
        .pending([.missing, .waiting], types: types).isEmpty
    }
    if isDone { return }
    try await storeWaiting(at: .fetched)
    try await store { store in try store.deleteMissing() }
    // A deletion may have made room for a unique value.
    try await storeWaiting(at: .last)
  }

  /// Stores changes while the next ones are fetched.
  private nonisolated(nonsending) func store(
    _ fetch: FetchChanges, in context: OperationContext
  ) async throws {
    let transactions = Transactions()
    do { try await store(fetch, transactions, in: context) } catch {
      if transactions.haveBegun { await mirror.local.truncateLog() }
      throw error
    }
    if transactions.haveBegun { await mirror.local.truncateLog() }
  }

  private nonisolated(nonsending) func store(
    _ fetch: FetchChanges, _ transactions: Transactions, in context: OperationContext
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      var collector = FetchedChangeCollector(for: mirror, since: fetch.token)
      do {
        _ = try await fetch.eachPage(in: context, passingFailures: true) { page in
          let delayedSince = page.delayedSince
          count { $0.delayedSince = delayedSince }
          // The error of a transaction ends the round at once.
          if transactions.haveFailed { try await group.next() }
          guard let changes = collector.add(page) else { return }
          // In order, because each transaction stores the position after its changes.
          try await group.next()
          group.addTask {
            try await transactions.run { try await self.store(changes) }
            // So that little is left to copy at the end of the round.
            await self.mirror.local.copyLog()
          }
        }
      } catch {
        if !Task.isCancelled {
          try await group.next()
          // The fetched changes are not fetched again, unless earlier ones could not be stored.
          if !transactions.haveFailed { try await store(collector.take()) }
        }
        throw error
      }
      try await group.next()
      try await store(collector.take())
    }
  }

  /// The transactions that are made while the next changes are fetched.
  private final class Transactions: Sendable {
    private let state = Lock((haveBegun: false, haveFailed: false))

    var haveBegun: Bool { state.withLock { $0.haveBegun } }
    var haveFailed: Bool { state.withLock { $0.haveFailed } }

    nonisolated(nonsending) func run(
      _ body: nonisolated(nonsending) () async throws -> Void
    ) async throws {
      state.withLock { $0.haveBegun = true }
      do { try await body() } catch {
        state.withLock { $0.haveFailed = true }
        throw error
      }
    }
  }

  /// Looks up the records that could not be read before, each by itself, and stores them.
  private nonisolated(nonsending) func lookUp(_ unread: [RecordID]) async throws {
    let mirror = mirror
    let stillUnread = try await mirror.local.read { connection in
      let tables = MirrorTables(connection: connection, mirror: mirror.name)
      return try unread.filter { try tables.base(of: $0)?.pending.contains(.unread) == true }
    }
    for id in stillUnread {
      let request = readRequest("look up \(id)", retries: mirror.retries) {
        try await mirror.remote.lookup([id], keys: nil)[id]
      }
      do {
        let record = try await context.run(request)
        try await store { store in try store.integrateUnread(record, named: id) }
      } catch let error as RecordError where error.record == id {
        try await store { store in try store.postpone(error) }
      }
    }
  }

  /// Stores the remote states that could not be stored before, where possible.
  private nonisolated(nonsending) func storeWaiting(at stage: MirrorStore.Stage) async throws {
    let types = mirror.types
    try await store { store in
      let waiting = try store.tables.pending(.waiting, types: types)
      try store.integrate(
        waiting.compactMap { id in
          guard let waiting = try store.tables.base(of: id)?.waiting else { return nil }
          return DatabaseRecord(id, fields: waiting.fields, tag: waiting.tag)
        }.orderedByReferences, at: stage)
    }
  }

  /// Stores fetched changes with their token, in one transaction.
  private nonisolated(nonsending) func store(_ changes: CollectedChanges?) async throws {
    guard let changes else { return }
    let remote = try await changes.startsOver ? mirror.remote.identity() : newIdentity()
    try await store(isOneOfMany: changes.isFull) { store in
      if changes.startsOver {
        if !changes.isFirst { store.report(.startedOver) }
        try store.startOver(in: remote)
      }
      let first = try store.tables.lastSequence()
      try store.integrate(changes.changed, isFirst: changes.isFirst)
      for id in changes.deleted { try store.tables.markMissing(id) }
      for error in changes.failed { try store.postpone(error) }
      guard var position = try store.tables.position() else { return }
      position.token = changes.token
      if position.remote == nil { position.remote = remote }
      let last = try store.tables.lastSequence()
      // All local changes since the examined ones are new records that are in step.
      if position.examined == first, last - first == store.insertedCount {
        position.examined = last
      }
      try store.tables.save(position)
    }
  }

  /// Looks for remote tables with new columns. Their values in rows that have not changed since, such as defaults, are
  /// no changes of records, so all records are fetched. Deletions are still reported as changes.
  ///
  /// The local tables get the constraints of the remote ones.
  ///
  /// - Returns: The types whose records have to be fetched, with their tables.
  /// - Throws: A ``RecordError`` if a table is not tracked: its records would be missing.
  private nonisolated(nonsending) func changedTables() async throws -> [(String, TableDescription)]
  {
    let (mirror, types) = (mirror, mirror.types)
    guard mirror.remote.capabilities.contains(.changes),
      let remote = mirror.remote as? any TableDescribing
    else { return [] }
    let request = readRequest("tables", retries: mirror.retries) {
      try await remote.descriptions(of: types)
    }
    guard let found = try await context.run(request) else { return [] }
    let untracked = found.filter { !$0.value.isTracked }.keys.sorted()
    if !untracked.isEmpty {
      let list = untracked.map(\.debugDescription).joined(separator: ", ")
      throw RecordError(
        .unsupported(
          """
          the remote database does not track the changes of \(untracked.joined(separator: ", ")), so their \
          records would be missing: call keepChanges(of: [\(list)]) there, or leave them out of the mirrored types
          """))
    }
    let (changed, missing) = try await mirror.local.read { connection in
      let tables = MirrorTables(connection: connection, mirror: mirror.name)
      let isNew = try tables.position()?.token == nil
      var changed: [(type: String, table: TableDescription, isFetched: Bool)] = []
      for type in types {
        guard let table = found[type] else { continue }
        switch try tables.columns(of: type) {
        case .complete(let known):
          if Set(known) == Set(table.columns),
            try connection.has(table.constraints, in: type, of: mirror.name)
          {
            continue
          }
          changed.append((type, table, !table.hasNewValues(since: known)))
        // All records are fetched as changes.
        case .incomplete: changed.append((type, table, isNew))
        case .none: changed.append((type, table, true))
        }
      }
      return (changed, try types.filter { try found[$0] == nil && connection.table($0) == nil })
    }
    count { $0.missingTypes = missing }
    if changed.isEmpty { return [] }
    try await checkSource()
    try await store { store in
      for (type, table, isFetched) in changed.parentsFirst {
        try store.createColumns(of: table, in: type)
        try store.tables.save(columns: isFetched ? table.columns : nil, of: type)
      }
    }
    return changed.filter { !$0.isFetched }.map { ($0.type, $0.table) }
  }

  /// Checks that the columns to create belong to the source of the records, if the mirror stops otherwise.
  private nonisolated(nonsending) func checkSource() async throws {
    let mirror = mirror
    guard mirror.otherDatabase == .stop else { return }
    let known = try await mirror.local.read { connection in
      try MirrorTables(connection: connection, mirror: mirror.name).position()?.remote
    }
    guard let known else { return }
    let found = try await mirror.remote.identity()
    if found != known { throw MirrorStore.otherDatabase(known: known, found: found) }
  }

  /// Fetches all records of a type.
  private nonisolated(nonsending) func queryAll(_ type: String) async throws {
    var cursor: RecordCursor?
    repeat {
      let (remote, after) = (mirror.remote, cursor)
      let page = try await context.run(
        readRequest("query \(type)", retries: mirror.retries) {
          try await remote.query(
            RecordQuery(type), after: after, atMost: min(remote.limits.page, 1_000))
        })
      try await store { store in try store.integrate(page.records.orderedByReferences) }
      cursor = page.cursor
    } while cursor != nil
  }
}

extension [(type: String, table: TableDescription, isFetched: Bool)] {
  /// The tables in an order in which each follows those that it refers to, where possible.
  fileprivate var parentsFirst: Self {
    let places = Dictionary(uniqueKeysWithValues: zip(map { RecordID($0.type, "") }, indices))
    // The samples of references have empty names.
    let records = map { type, table, _ in
      DatabaseRecord(
        RecordID(type, ""), fields: Dictionary(table.samples) { first, _ in first }, tag: nil)
    }
    return records.orderedByReferences.compactMap { places[$0.id] }.map { self[$0] }
  }
}
