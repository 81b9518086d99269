internal import CompositeOperations
internal import SQLiteSupport

/// Fetching and storing remote changes.
extension MirrorRound {
  /// Fetches the changes of the remote database and merges them into the local file.
  nonisolated(nonsending) func pull() async throws {
    let mirror = mirror
    if mirror.remote.capabilities.contains(.changes) {
      let token = try await mirror.local.read { connection in
        try MirrorTables(connection: connection, mirror: mirror.name).position()?.token
      }
      let fetch = FetchChanges(since: token, in: mirror.remote, retries: mirror.retries)
      let collected = Lock(CollectedChanges(since: token))
      do {
        _ = try await context.run(
          fetch.applying { page in
            if let full = collected.withLock({ $0.add(page) }) { try await self.store(full) }
          })
      } catch {
        // The fetched changes are not fetched again.
        if !Task.isCancelled { try await store(collected.withLock { $0.take() }) }
        throw error
      }
      try await store(collected.withLock { $0.take() })
    } else {
      count { $0.usesChanges = false }
      try await queryAll()
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

  /// Stores the remote states that could not be stored before, where possible.
  private nonisolated(nonsending) func storeWaiting(at stage: MirrorStore.Stage) async throws {
    let types = mirror.types
    try await store { store in
      let waiting = try store.tables.pending(.waiting, types: types)
      try store.integrate(
        waiting.compactMap { id in
          guard let waiting = try store.tables.base(of: id)?.waiting else { return nil }
          return DatabaseRecord(id, fields: waiting.fields, tag: waiting.tag)
        }, at: stage)
    }
  }

  /// Stores fetched changes with their token, in one transaction.
  private nonisolated(nonsending) func store(_ changes: CollectedChanges) async throws {
    if changes.isEmpty { return }
    let types = Set(mirror.types)
    let remote = changes.startsOver ? try await mirror.remote.identity() : nil
    try await store { store in
      if changes.startsOver {
        if !changes.isFirst { store.report(.startedOver) }
        try store.startOver(in: remote)
      }
      try store.integrate(changes.changed.filter { types.contains($0.id.type) })
      for id in changes.deleted where types.contains(id.type) { try store.tables.markMissing(id) }
      guard var position = try store.tables.position() else { return }
      position.token = changes.token
      try store.tables.save(position)
    }
  }

  /// Fetches all records of a database that does not report changes.
  private nonisolated(nonsending) func queryAll() async throws {
    let identity = try await mirror.remote.identity()
    try await store { store in try store.startOver(in: identity) }
    for type in mirror.types {
      var cursor: RecordCursor?
      repeat {
        let (remote, after) = (mirror.remote, cursor)
        let page = try await context.run(
          readRequest("query \(type)", retries: mirror.retries) {
            try await remote.query(
              RecordQuery(type), after: after, atMost: min(remote.limits.page, 1_000))
          })
        try await store { store in try store.integrate(page.records) }
        cursor = page.cursor
      } while cursor != nil
    }
  }
}

/// Changes that are stored in one transaction: fewer transactions write the pages of the file less
/// often.
private struct CollectedChanges {
  /// The number of changes from which on they are stored.
  private static let count = 10_000

  private var latest: [RecordID: DatabaseRecord?] = [:]
  private(set) var token: ChangeToken?
  /// Whether the records that were fetched before are void.
  private(set) var startsOver = false
  /// Whether the mirror has never fetched changes.
  let isFirst: Bool

  init(since token: ChangeToken?) {
    self.token = token
    isFirst = token == nil
  }

  var isEmpty: Bool { latest.isEmpty && !startsOver && !hasNewToken }
  private var hasNewToken = false

  /// In the order of their names, so that the pages of indexes are written once.
  var changed: [DatabaseRecord] {
    latest.values.compactMap(\.self).sorted { $0.id.precedes($1.id) }
  }
  var deleted: [RecordID] {
    latest.filter { $0.value == nil }.map(\.key).sorted { $0.precedes($1) }
  }

  /// Adds a page.
  ///
  /// - Returns: The changes to store, if there are enough.
  mutating func add(_ page: FetchedChanges) -> CollectedChanges? {
    if page.startsOver { (latest, startsOver) = ([:], true) }
    for record in page.changed { latest[record.id] = .some(record) }
    for id in page.deleted { latest[id] = .some(nil) }
    hasNewToken = hasNewToken || page.token != token
    token = page.token
    return latest.count >= Self.count ? take() : nil
  }

  /// Returns the changes, and removes them.
  mutating func take() -> CollectedChanges {
    defer { (latest, startsOver, hasNewToken) = ([:], false, false) }
    return self
  }
}
