import CloudKitOperations
import FakeCloudKit
import Foundation
import RecordOperations

#if canImport(PostgresOperations)
  import PostgresOperations
#endif

/// The databases that must behave equally.
///
/// If `COMPOSITE_TEST_STORE` has the address of a PostgreSQL database, the tests use only that one.
/// Tests of PostgresOperations run those of this target that way.
enum DatabaseKind: CaseIterable, Sendable {
  case memory, sqlite, cloudKit, postgres

  static let address = ProcessInfo.processInfo.environment["COMPOSITE_TEST_STORE"]

  static var allCases: [DatabaseKind] {
    address == nil ? [.memory, .sqlite, .cloudKit] : [.postgres]
  }

  /// The databases that store all values, have all delete rules and evaluate all predicates.
  static var complete: [DatabaseKind] { allCases.filter { $0 != .cloudKit } }

  func make(limits: RecordLimits = RecordLimits()) throws -> any RecordDatabase {
    switch self {
    case .memory: return MemoryRecordDatabase(limits: limits)
    case .sqlite: return try FolderDatabase(limits: limits)
    case .cloudKit: return try CloudKitZone(limits: limits)
    case .postgres:
      #if canImport(PostgresOperations)
        if let address = Self.address {
          // The first save creates the schema.
          let schema = "test_" + UUID().uuidString.lowercased()
          return PostgresRecordDatabase(
            address, PostgresRecordOptions(schema: schema, connections: 2, limits: limits))
        }
      #endif
      throw RecordError(.unsupported("COMPOSITE_TEST_STORE is not set"))
    }
  }
}

/// A database in a folder that is removed with it.
private final class FolderDatabase: ForwardingDatabase {
  private let folder: TemporaryFolder
  let base: SQLiteRecordDatabase

  init(limits: RecordLimits) throws {
    folder = try TemporaryFolder()
    base = SQLiteRecordDatabase(folder.file(), SQLiteOptions(limits: limits))
  }
}

/// A zone of a private database on a server of its own.
private final class CloudKitZone: ForwardingDatabase {
  private let server: FakeCloudKit
  let base: CloudKitRecordDatabase

  init(limits: RecordLimits) throws {
    server = try FakeCloudKit(apiToken: "api", users: ["first": "_user"])
    server.createZone("Library", in: "private")
    var limits = limits
    limits.items = min(limits.items, 200)
    limits.page = min(limits.page, 200)
    base = CloudKitRecordDatabase(
      "iCloud.com.example.library", .development, .private,
      as: .user(CloudKitUserSession(apiToken: "api", webToken: "first")),
      CloudKitOptions(
        zone: "Library", types: ["Book"], referenceTypes: ["Book.author": "Author"], limits: limits,
        host: server.url))
  }
}

/// A database that passes its requests to another one, except for those that it implements itself.
protocol ForwardingDatabase: RecordDatabase {
  associatedtype Base: RecordDatabase
  var base: Base { get }
}

extension ForwardingDatabase {
  var limits: RecordLimits { base.limits }
  var capabilities: RecordCapabilities { base.capabilities }

  func accountStatus() async throws -> AccountStatus { try await base.accountStatus() }
  func identity() async throws -> String? { try await base.identity() }
  func modify(_ batch: RecordBatch) async throws -> [RecordReply] { try await base.modify(batch) }
  func lookup(_ ids: [RecordID], keys: [String]?) async throws -> [RecordID: DatabaseRecord] {
    try await base.lookup(ids, keys: keys)
  }
  func query(
    _ query: RecordQuery, after cursor: RecordCursor?, atMost count: Int
  ) async throws -> RecordPage {
    try await base.query(query, after: cursor, atMost: count)
  }
  func changes(since token: ChangeToken?, in zone: RecordZone) async throws -> ChangePage {
    try await base.changes(since: token, in: zone)
  }
}

/// The identity of a book.
func id(_ name: String) -> RecordID { RecordID("Book", name) }

/// A reference to an author.
func reference(_ name: String, _ rule: RecordReference.DeleteRule) -> FieldValue {
  .reference(RecordReference(RecordID("Author", name), onDelete: rule))
}

/// A record with a name and fields that has never been saved.
func record(
  _ name: String, type: String = "Book", _ fields: [String: FieldValue] = [:]
) -> DatabaseRecord {
  var record = DatabaseRecord(type, name)
  for (key, value) in fields { record[key] = value }
  return record
}

extension RecordDatabase {
  /// The stored record, or nil.
  func record(_ id: RecordID) async throws -> DatabaseRecord? {
    try await lookup([id], keys: nil)[id]
  }

  /// All records of a query, page by page.
  func all(_ query: RecordQuery, page: Int = 1_000) async throws -> [DatabaseRecord] {
    var records: [DatabaseRecord] = []
    var cursor: RecordCursor?
    repeat {
      let page = try await self.query(query, after: cursor, atMost: page)
      records += page.records
      cursor = page.cursor
    } while cursor != nil
    return records
  }

  /// Saves records as another writer would.
  @discardableResult
  func save(
    _ records: DatabaseRecord..., policy: SavePolicy = .allKeys
  ) async throws -> [DatabaseRecord] {
    try await modify(RecordBatch(records.map { .save($0, policy) })).map { try $0.saved }
  }
}

extension RecordError {
  /// The name of the reason, without its associated value.
  var name: String {
    switch reason {
    case .conflict: "conflict"
    case .unknownRecord: "unknownRecord"
    case .limitExceeded: "limitExceeded"
    case .referenceViolated: "referenceViolated"
    case .batchFailed: "batchFailed"
    case .invalid: "invalid"
    case .unsupported: "unsupported"
    case .unavailable: "unavailable"
    case .replyLost: "replyLost"
    case .notPermitted: "notPermitted"
    case .tokenExpired: "tokenExpired"
    case .otherDatabase: "otherDatabase"
    case .storage: "storage"
    case .other: "other"
    }
  }
}

extension RecordReply {
  var saved: DatabaseRecord {
    get throws {
      switch self {
      case .saved(let record): return record
      case .deleted: throw RecordError(.invalid("unexpected reply: deleted"))
      case .failed(let error): throw error
      }
    }
  }
  var error: RecordError? {
    if case .failed(let error) = self { error } else { nil }
  }
  var record: DatabaseRecord? {
    if case .saved(let record) = self { record } else { nil }
  }
}
