package import Foundation
public import HTTPOperations
public import RecordOperations

/// A database of records in CloudKit, through CloudKit Web Services.
///
/// ```swift
/// import CloudKitOperations
/// import RecordOperations
///
/// let key = try CloudKitServerKey(id: "8f2c…", contentsOfFile: "eckey.pem")
/// let database = CloudKitRecordDatabase(
///   "iCloud.com.example.library", .development, as: .serverKey(key))
/// var book = DatabaseRecord("Book", "9780141439600")
/// book["title"] = "Persuasion"
/// let saved = try await SaveRecords([book], in: database).run().get()
/// ```
///
/// It has been checked against a server that was written from Apple's published reference, not
/// against iCloud.
///
/// A type is a record type, a field a field, and the name of a record its record name. In CloudKit
/// a name is unique in its zone, whatever the type, and has at most 255 characters of ASCII. A type
/// or a field that is new is created by CloudKit in the development environment, and is an error in
/// the production environment.
///
/// | value | type in CloudKit |
/// |---|---|
/// | integer | `INT64` |
/// | double, but not an infinite one | `DOUBLE` |
/// | string | `STRING` |
/// | bytes | `BYTES` |
/// | date | `TIMESTAMP` |
/// | reference with the rule `.keep`, `.cascade` or `.deny` | `REFERENCE` with `NONE`, `DELETE_SELF` or `VALIDATE` |
/// | list of values of one type | a list of that type |
///
/// Values of other types, such as locations and assets, are errors when they are read. Name the
/// fields to read to leave them out.
///
/// CloudKit reports changes and saves batches atomically only in a private database, in a zone that
/// was created. The capabilities say so before a request is sent: see ``CloudKitOptions/zone`` and
/// ``createZone(_:)``.
///
/// CloudKit cannot evaluate alternatives, a comparison with null, a search within strings, or a
/// negation other than of `==`, `isOne(of:)` and `hasPrefix`.
public final class CloudKitRecordDatabase: RecordDatabase {
  /// A version of a container.
  public enum Environment: String, Hashable, Sendable {
    /// The environment of apps in development. Types and fields are created when they are first
    /// saved.
    case development
    /// The environment of apps from the store.
    case production
  }

  /// A database of a container.
  public enum Scope: String, Hashable, Sendable {
    /// The database that all users of an app share.
    case `public`
    /// The database of the user who has signed in.
    case `private`
  }

  /// The ID of the container, such as `iCloud.com.example.library`.
  public let container: String
  /// The environment of the container.
  public let environment: Environment
  /// The database of the container.
  public let scope: Scope
  /// How the database is used.
  public let options: CloudKitOptions

  let client: CloudKitClient

  /// The limits of ``options``.
  public var limits: RecordLimits { options.limits }

  /// What the database can do with these credentials and options (rule Y1).
  public var capabilities: RecordCapabilities {
    var capabilities: RecordCapabilities = [.sorting, .negation, .listSearch]
    guard hasUser, scope == .private, options.zone != CloudKitOptions.defaultZone else {
      return capabilities
    }
    capabilities.insert(.atomicBatches)
    // Without types, deletions cannot be reported.
    if !options.types.isEmpty { capabilities.insert(.changes) }
    return capabilities
  }

  /// Whether requests are sent as a user, who has a private database.
  var hasUser: Bool { if case .user = client.credentials { true } else { false } }

  /// Creates a database, to which the first request connects.
  ///
  /// - Parameters:
  ///   - container: The ID of the container, such as `iCloud.com.example.library`.
  ///   - environment: The environment of the container.
  ///   - scope: The database of the container. The private one needs a user.
  ///   - credentials: What the requests are signed with.
  ///   - options: How the database is used.
  ///   - session: Sends the requests.
  /// - Precondition: The container is not empty and has only letters, digits, `.`, `-` and `_`.
  public convenience init(
    _ container: String, _ environment: Environment, _ scope: Scope = .public,
    as credentials: CloudKitCredentials, _ options: CloudKitOptions = CloudKitOptions(),
    session: HTTPSession = .shared
  ) {
    self.init(
      container, environment, scope, as: credentials, options, session: session, now: { Date() })
  }

  /// - Parameter now: The clock of this machine.
  package init(
    _ container: String, _ environment: Environment, _ scope: Scope = .public,
    as credentials: CloudKitCredentials, _ options: CloudKitOptions = CloudKitOptions(),
    session: HTTPSession = .shared, now: @escaping @Sendable () -> Date
  ) {
    precondition(
      !container.isEmpty
        && container.utf8.allSatisfy {
          (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
            || [UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_")].contains($0)
        }, "'\(container)' is no ID of a container, such as iCloud.com.example.library")
    self.container = container
    self.environment = environment
    self.scope = scope
    self.options = options
    client = CloudKitClient(
      host: options.host,
      path: "/database/1/\(container)/\(environment.rawValue)/", scope: scope,
      credentials: credentials, session: session, now: now)
  }

  // MARK: Zones

  /// The ID of a zone for requests.
  func zoneID(of zone: RecordZone) -> CloudKitZoneID {
    CloudKitZoneID(zoneName: zone == .default ? options.zone : zone.name)
  }

  /// Returns a value whose references name their zones. Without a name, CloudKit takes its default
  /// zone.
  func addressed(_ value: FieldValue) -> FieldValue {
    switch value {
    case .reference(let reference):
      let name = zoneID(of: reference.id.zone).zoneName
      let zone = name == CloudKitOptions.defaultZone ? RecordZone.default : RecordZone(name)
      return .reference(
        RecordReference(
          RecordID(reference.id.type, reference.id.name, in: zone), onDelete: reference.onDelete))
    case .list(let elements): return .list(elements.map(addressed))
    case .null, .integer, .double, .string, .bytes, .date: return value
    }
  }

  func zone(named name: String) -> RecordZone {
    name == options.zone ? .default : RecordZone(name)
  }

  /// Returns the zones of the database.
  ///
  /// - Throws: A `RecordError` if the request fails; `CancellationError`.
  public func zones() async throws -> [RecordZone] {
    let response: CloudKitZonesResponse = try await client.send(
      CloudKitEmptyRequest(), to: "zones/list")
    return response.zones.compactMap { $0.zoneID.map { zone(named: $0.zoneName) } }
  }

  /// Creates a zone of a private database. A zone that exists remains as it is.
  ///
  /// - Parameter zone: The zone; `.default` for the zone of ``options``.
  /// - Throws: A `RecordError` if the request fails; `CancellationError`.
  public func createZone(_ zone: RecordZone = .default) async throws {
    try await modify(zone, .create)
  }

  /// Deletes a zone of a private database, with all records.
  ///
  /// - Parameter zone: The zone.
  /// - Throws: A `RecordError` if the request fails; `CancellationError`.
  public func deleteZone(_ zone: RecordZone) async throws { try await modify(zone, .delete) }

  private func modify(
    _ zone: RecordZone, _ kind: CloudKitZonesRequest.Operation.Kind
  ) async throws {
    guard scope == .private else {
      throw RecordError(
        .unsupported("the public database has only the default zone; zones are in private ones"))
    }
    let response: CloudKitZonesResponse = try await client.send(
      CloudKitZonesRequest(
        operations: [.init(operationType: kind, zone: .init(zoneID: zoneID(of: zone)))]),
      to: "zones/modify", isWrite: true)
    for zone in response.zones {
      if let failure = zone.failure { throw failure.error(isWrite: true) }
    }
  }

  // MARK: The account

  /// Returns the URL at which a user signs in; `nil` if the user is signed in.
  ///
  /// Apple shows the page, and passes the first web token of a ``CloudKitUserSession`` to the
  /// callback of the API token.
  ///
  /// - Throws: A `RecordError` if the request fails; `CancellationError`.
  public func signInURL() async throws -> String? {
    guard let failure = try await client.failure(of: "users/caller", expecting: "userRecordName")
    else { return nil }
    guard failure.serverErrorCode == "AUTHENTICATION_REQUIRED", let url = failure.redirectURL else {
      throw failure.error(isWrite: false)
    }
    return url
  }

  /// Returns whether the database is available with the credentials.
  ///
  /// - Throws: `CancellationError`.
  public func accountStatus() async throws -> AccountStatus {
    do {
      // Without a user, the token can only be tried with a request that needs none.
      let (operation, member) =
        if case .apiToken = client.credentials { ("zones/list", "zones") } else {
          ("users/caller", "userRecordName")
        }
      guard let failure = try await client.failure(of: operation, expecting: member) else {
        return .available
      }
      if failure.serverErrorCode == "AUTHENTICATION_REQUIRED" { return .noAccount }
      throw failure.error(isWrite: false)
    } catch let error as RecordError { return error.accountStatus }
  }

  /// Returns an ID that consists of the container, the environment, the database and the zone, and
  /// of the user of a private database.
  ///
  /// - Throws: A `RecordError` if the request fails; `CancellationError`.
  public func identity() async throws -> String? {
    var parts = [container, environment.rawValue, scope.rawValue, options.zone]
    if scope == .private {
      let user: CloudKitUserResponse = try await client.send(
        CloudKitEmptyRequest(), to: "users/caller")
      parts.append(user.userRecordName)
    }
    return parts.joined(separator: " ")
  }
}
