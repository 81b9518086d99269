import CompositeOperations
import RecordOperations
import SQLiteSupport

/// A local file and a remote database with a mirror between them.
final class MirrorPair: Sendable {
  let folder: TemporaryFolder
  let local: SQLiteRecordDatabase
  /// Without faults.
  let base: MemoryRecordDatabase
  let remote: FaultyRecordDatabase
  let mirror: RecordMirror

  typealias Fault =
    @Sendable (FaultyRecordDatabase.Request, Int) async -> FaultyRecordDatabase.Fault?

  init(
    types: [String] = ["Author", "Book"], conflicts: ConflictPolicy = .remoteWins,
    deletions: DeletionPolicy = .lose, limits: RecordLimits = RecordLimits(),
    capabilities: RecordCapabilities = .all,
    retries: RetryPolicy = RetryPolicy(attempts: 2, backoff: .none),
    transactionSize: Int = 10_000,
    fault: @escaping Fault = { _, _ in nil }
  ) throws {
    folder = try TemporaryFolder()
    local = SQLiteRecordDatabase(folder.file())
    base = MemoryRecordDatabase(limits: limits, capabilities: capabilities)
    remote = FaultyRecordDatabase(base, fault: fault)
    mirror = RecordMirror(
      of: types, in: local, with: remote, conflicts: conflicts, deletions: deletions,
      retries: retries, transactionSize: transactionSize)
  }

  @discardableResult
  func sync() async throws -> MirrorReport { try await mirror.sync.run().get() }

  /// Edits a record in both databases, so that the same fields have changed on both sides.
  func edit(
    _ name: String, local mine: [String: FieldValue], remote theirs: [String: FieldValue]
  ) async throws {
    try await local.save(record(name, mine))
    try await base.save(record(name, theirs))
  }

  /// A field of a book in both databases: local, then remote.
  func values(_ name: String, _ key: String) async throws -> [FieldValue?] {
    let id = RecordID("Book", name)
    return [try await local.record(id)?[key], try await base.record(id)?[key]]
  }

  /// The names of the books in both databases: local, then remote.
  var names: [[String]] {
    get async throws {
      try await [local as any RecordDatabase, base].asyncMap { database in
        try await database.all(RecordQuery("Book")).map(\.id.name).sorted()
      }
    }
  }

  /// The lost values in the local file, as text.
  var lost: [String] {
    get async throws {
      try await local.read { connection in
        try connection.fetchAll(
          """
          SELECT type || '/' || name || ' ' || ifnull(field, 'deletion') || ' ' || lost || ' ' || \
          kept || ' ' || side FROM _record_mirror_conflicts ORDER BY rowid
          """
        ) { $0.text(at: 0) ?? "" }
      }
    }
  }

  /// Runs statements in the local file as another program would.
  func execute(_ statements: String...) async throws {
    try await local.write { connection in
      for sql in statements { try connection.execute(sql) }
    }
  }
}

extension Array {
  func asyncMap<Result>(_ body: (Element) async throws -> Result) async rethrows -> [Result] {
    var results: [Result] = []
    for element in self { results.append(try await body(element)) }
    return results
  }
}
