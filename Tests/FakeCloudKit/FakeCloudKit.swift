internal import CompositeOperations
package import Foundation
internal import LoopbackServer

/// A server for tests that behaves as Apple's reference of CloudKit Web Services describes.
///
/// It is written from the reference, independently of the client. It rejects every deviation of a
/// request with `BAD_REQUEST` and a reason, where iCloud may be more tolerant.
///
/// ```swift
/// let server = try FakeCloudKit(serverKeys: ["key": publicKey])
/// server.inject { $0.number == 2 ? .losingReply : nil }
/// let endpoint = server.url  // Instead of https://api.apple-cloudkit.com
/// ```
package final class FakeCloudKit: Sendable {
  /// The limits of requests and records. The defaults are those of the reference.
  package struct Limits: Sendable {
    /// Operations in a request.
    package var operations: Int
    /// Records in a response, and in a request of `records/lookup`.
    package var recordsPerResponse: Int
    /// The size of a record in bytes.
    package var recordBytes: Int
    /// `DELETE_SELF` references to one record.
    package var deletingReferences: Int

    package init(
      operations: Int = 200, recordsPerResponse: Int = 200, recordBytes: Int = 1_000_000,
      deletingReferences: Int = 750
    ) {
      self.operations = operations
      self.recordsPerResponse = recordsPerResponse
      self.recordBytes = recordBytes
      self.deletingReferences = deletingReferences
    }
  }

  /// Limits, and behavior that the reference leaves open.
  package struct Options: Sendable {
    /// The limits of requests and records.
    package var limits: Limits
    /// Whether a failed atomic request has the status 400 and `ATOMIC_ERROR` as its only error.
    /// Otherwise its status is 200: the failed operation has its own error, and each other one has
    /// `ATOMIC_ERROR`.
    package var rejectsAtomicRequests = false
    /// Whether deleted records in responses have a `recordType`.
    package var namesTypesOfDeletedRecords = false
    /// Whether connections stay open after a response. A client may repeat a request by itself
    /// whose reply is lost on a connection that it used before.
    package var keepsConnectionsOpen = false

    package init(limits: Limits = Limits()) { self.limits = limits }
  }

  /// A request, for the injection of faults and for checks.
  package struct Request: Sendable {
    /// The path after the database, such as `records/modify`. For a malformed path, the whole path.
    package var path: String
    /// `public`, `private` or `shared`; empty for a malformed path.
    package var database: String
    /// The parameters of the query, decoded.
    package var query: [String: String]
    /// The body, which may be malformed.
    package var body: Data
    /// The number of the request, starting at 1.
    package var number: Int

    /// The body as JSON; nil if it is not JSON.
    package var json: CloudValue? { try? JSONDecoder().decode(CloudValue.self, from: body) }
  }

  /// A fault to inject into a request.
  package enum Fault: Sendable {
    /// Responds with `THROTTLED` and status 429, without performing the request.
    case throttled(retryAfter: Int?)
    /// Responds with `TRY_AGAIN_LATER` and status 503, without performing the request.
    case unavailable(retryAfter: Int?)
    /// Closes the connection without performing the request.
    case losingRequest
    /// Performs the request, then closes the connection without a response.
    case losingReply
    /// Performs the request, then closes the connection after the head of the response and half of
    /// its body.
    case cuttingReply
    /// Responds with an error code and a status, without performing the request.
    case code(String, status: Int)
    /// Responds with a body of type `text/html`, as a proxy does. Nothing is checked or performed.
    case status(Int, body: String)
    /// Fails the operations on a record, its lookup, or its changes, with an error code.
    case failing(record: String, code: String)
  }

  /// libcrypto is missing, so server-to-server keys cannot be checked.
  package struct UnsupportedKeysError: Error {}

  private let service: CloudService
  private let server: LoopbackServer

  /// Starts the server on a free port.
  ///
  /// - Parameters:
  ///   - serverKeys: By key ID, the public key in PEM format.
  ///   - apiToken: The only valid API token; nil for none.
  ///   - users: By first web authentication token, the record name of the user. First tokens do not
  ///     expire; later ones expire after 30 minutes.
  /// - Throws: ``UnsupportedKeysError``, or an error of the socket.
  package init(
    container: String = "iCloud.com.example.library", environment: String = "development",
    serverKeys: [String: String] = [:], apiToken: String? = nil, users: [String: String] = [:],
    options: Options = Options()
  ) throws {
    if !serverKeys.isEmpty, !Signature.isSupported { throw UnsupportedKeysError() }
    let service = CloudService(
      prefix: "/database/1/\(container)/\(environment)/",
      store: CloudStore(environment: environment, options: options),
      authentication: Authentication(
        serverKeys: serverKeys, apiToken: apiToken, users: users),
      users: Set(users.values).sorted())
    self.service = service
    server = try LoopbackServer { service.respond(to: $0, on: $1) }
  }

  /// The address, to be used instead of `https://api.apple-cloudkit.com`.
  package var url: URL { server.url("") }

  /// The address of the sign-in page in `redirectURL` of `AUTHENTICATION_REQUIRED`. There is no
  /// page; ``signIn(_:)`` returns its result.
  package var signInURL: URL { server.url("/sign-in") }

  /// The clock of the server: for the header `Date`, signatures, tokens and times of records.
  package var now: @Sendable () -> Date {
    get { service.state.withLock { $0.now } }
    set {
      // The lock's rule: the previous closure is released after the lock.
      _ = service.state.withLock { state in
        defer { state.now = newValue }
        return state.now
      }
    }
  }

  /// The requests so far, in order.
  package var requests: [Request] { service.state.withLock { $0.requests } }

  /// Sets the closure that returns the fault for each request; nil means no fault.
  ///
  /// It runs before the request is performed, on the thread of the connection. It may save and
  /// delete records, as another writer.
  package func inject(_ fault: @escaping @Sendable (Request) -> Fault?) {
    _ = service.state.withLock { state in
      defer { state.fault = fault }
      return state.fault
    }
  }

  /// Expires all change tokens.
  package func forgetChanges() { service.state.withLock { $0.store.epoch += 1 } }

  /// Returns a new web authentication token, as the sign-in page does.
  ///
  /// - Parameter user: The record name of the user.
  package func signIn(_ user: String) -> String {
    let now = now()
    return service.state.withLock { $0.authentication.signIn(user, now: now) }
  }

  /// Invalidates all web authentication tokens.
  package func signOutAll() { service.state.withLock { $0.authentication.signOutAll() } }

  /// The records of a zone, by record name. Empty for an unknown zone.
  ///
  /// - Parameters:
  ///   - database: `public`, `private` or `shared`.
  ///   - user: The user of a private or shared database; nil for the first one in the order of
  ///     names.
  package func records(
    in database: String = "public", zone: String = "_defaultZone", of user: String? = nil
  ) -> [String: CloudRecord] {
    let key = key(database, user)
    return service.state.withLock { $0.store.databases[key]?.zones[zone]?.records ?? [:] }
  }

  /// The names of the zones of a database that were created, in order.
  package func zones(in database: String, of user: String? = nil) -> [String] {
    let key = key(database, user)
    return service.state.withLock { $0.store.databases[key]?.zones.keys.sorted() ?? [] }
  }

  /// Saves a record as another writer: without checks, so also with fields of types that clients
  /// cannot save, such as `LOCATION`. Replaces all fields, and creates a missing zone.
  ///
  /// - Parameters:
  ///   - writer: The record name of the user that saves it.
  ///   - user: The user of a private or shared database; nil for the first one.
  @discardableResult package func save(
    _ record: String, type: String, fields: [String: CloudField] = [:],
    in database: String = "public", zone: String = "_defaultZone", of user: String? = nil,
    by writer: String = "_anotherUser"
  ) -> CloudRecord {
    let (key, now) = (key(database, user), now())
    let owner = database == "shared" ? writer : self.owner(database, user)
    return service.state.withLock { state in
      var stored = state.store.createZone(zone, owner: owner, in: key)
      let saved = state.store.save(
        record, type: type, fields: fields, in: &stored, user: writer, now: now)
      state.store.databases[key]?.zones[zone] = stored
      return saved
    }
  }

  /// Creates a zone, if it does not exist.
  package func createZone(_ zone: String, in database: String, of user: String? = nil) {
    let (key, owner) = (key(database, user), owner(database, user))
    service.state.withLock { state in
      let created = state.store.createZone(zone, owner: owner, in: key)
      state.store.databases[key]?.zones[zone] = created
    }
  }

  /// Deletes a record as another writer, without checks and without following references.
  package func delete(
    _ record: String, in database: String = "public", zone: String = "_defaultZone",
    of user: String? = nil
  ) {
    let key = key(database, user)
    service.state.withLock { state in
      let sequence = state.store.nextSequence()
      state.store.databases[key]?.zones[zone]?.delete(record, at: sequence)
    }
  }

  private func key(_ database: String, _ user: String?) -> String {
    CloudStore.key(database, user: user ?? service.users.first)
  }

  private func owner(_ database: String, _ user: String?) -> String {
    database == "public" ? Authentication.developer : user ?? service.users.first ?? ""
  }
}
