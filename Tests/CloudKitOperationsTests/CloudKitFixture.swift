import CloudKitOperations
import FakeCloudKit
import Foundation
import RecordOperations

/// A database, and the server that it talks to.
struct CloudKitFixture: Sendable {
  static let container = "iCloud.com.example.library"
  /// Whether signatures can be made and verified here.
  static var hasKeys: Bool {
    #if canImport(CCrypto)
      true
    #else
      false
    #endif
  }
  static let keyID = "8f2c6d0e"
  static let zone = "Library"

  /// A key that was made for these tests.
  static let privateKey = """
    -----BEGIN EC PRIVATE KEY-----
    MHcCAQEEICKfE4YyLU7Wgz16KGQI+YkeGJo1qZUb+DXVm5DzO5+ZoAoGCCqGSM49
    AwEHoUQDQgAEefcr3a3ip1jMv28xCYvmSsvgEQAYG3oWJ54yL9vHeBCvsjUV3UJc
    FTIYSsjFhV+qVN7c0RcfgjIQdvjWKKKFXg==
    -----END EC PRIVATE KEY-----
    """
  static let publicKey = """
    -----BEGIN PUBLIC KEY-----
    MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEefcr3a3ip1jMv28xCYvmSsvgEQAY
    G3oWJ54yL9vHeBCvsjUV3UJcFTIYSsjFhV+qVN7c0RcfgjIQdvjWKKKFXg==
    -----END PUBLIC KEY-----
    """

  let server: FakeCloudKit
  let database: CloudKitRecordDatabase

  /// The public database, with a server-to-server key.
  static func `public`(
    options: CloudKitOptions = CloudKitOptions(),
    server serverOptions: FakeCloudKit.Options = FakeCloudKit.Options(),
    now: @escaping @Sendable () -> Date = { Date() }
  ) throws -> CloudKitFixture {
    let server = try FakeCloudKit(serverKeys: [keyID: publicKey], options: serverOptions)
    let key = try CloudKitServerKey(id: keyID, pem: privateKey)
    return CloudKitFixture(server: server, as: .serverKey(key), .public, options, now: now)
  }

  /// The private database of a user, with a zone of its own.
  static func `private`(
    types: [String] = ["Author", "Book"], zone: String = zone,
    limits: RecordLimits = CloudKitOptions().limits,
    server serverOptions: FakeCloudKit.Options = FakeCloudKit.Options(),
    renewed: @escaping @Sendable (String) -> Void = { _ in }
  ) async throws -> CloudKitFixture {
    let server = try FakeCloudKit(
      apiToken: "api", users: ["first": "_user"], options: serverOptions)
    let session = CloudKitUserSession(apiToken: "api", webToken: "first", renewed: renewed)
    let fixture = CloudKitFixture(
      server: server, as: .user(session), .private,
      CloudKitOptions(zone: zone, types: types, limits: limits), now: { Date() })
    if zone != CloudKitOptions.defaultZone { try await fixture.database.createZone() }
    return fixture
  }

  init(
    server: FakeCloudKit, as credentials: CloudKitCredentials,
    _ scope: CloudKitRecordDatabase.Scope, _ options: CloudKitOptions,
    now: @escaping @Sendable () -> Date
  ) {
    self.server = server
    var options = options
    options.host = server.url
    database = CloudKitRecordDatabase(
      Self.container, .development, scope, as: credentials, options, now: now)
  }

  /// The requests with a path.
  func requests(to path: String) -> [FakeCloudKit.Request] {
    server.requests.filter { $0.path == path }
  }
}

/// A book that has never been saved.
func book(_ name: String, _ fields: [String: FieldValue] = [:]) -> DatabaseRecord {
  var record = DatabaseRecord("Book", name)
  for (key, value) in fields { record[key] = value }
  return record
}

extension RecordReply {
  var record: DatabaseRecord? { if case .saved(let record) = self { record } else { nil } }
  var error: RecordError? { if case .failed(let error) = self { error } else { nil } }
}

extension CloudKitRecordDatabase {
  /// Saves records with one request.
  @discardableResult
  func save(
    _ records: DatabaseRecord..., policy: SavePolicy = .ifUnchanged
  ) async throws -> [RecordReply] {
    try await modify(RecordBatch(records.map { .save($0, policy) }))
  }
}
