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
      _ = try await context.run(fetch.applying { page in try await self.store(page, since: token) })
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
    // The deletions are a transaction of their own, with all foreign keys enforced immediately.
    try await store { store in
      let waiting = try store.tables.pending(.waiting, types: types)
      try store.integrate(
        waiting.compactMap { id in
          guard let waiting = try store.tables.base(of: id)?.waiting else { return nil }
          return DatabaseRecord(id, fields: waiting.fields, tag: waiting.tag)
        })
    }
    try await store { store in try store.deleteMissing(types) }
  }

  /// Stores a page of changes with its token.
  private nonisolated(nonsending) func store(
    _ page: FetchedChanges, since token: ChangeToken?
  ) async throws {
    if page.changed.isEmpty, page.deleted.isEmpty, !page.startsOver, page.token == token { return }
    let types = Set(mirror.types)
    try await store { store in
      if page.startsOver {
        try store.tables.markAllMissing()
        if token != nil { store.report(.startedOver) }
      }
      try store.integrate(page.changed.filter { types.contains($0.id.type) })
      for id in page.deleted where types.contains(id.type) { try store.tables.markMissing(id) }
      guard var position = try store.tables.position() else { return }
      position.token = page.token
      try store.tables.save(position)
    }
  }

  /// Fetches all records of a database that does not report changes.
  private nonisolated(nonsending) func queryAll() async throws {
    try await store { store in try store.tables.markAllMissing() }
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
