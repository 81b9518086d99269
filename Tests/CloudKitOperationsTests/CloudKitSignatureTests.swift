import CloudKitOperations
import CompositeOperations
import FakeCloudKit
import Foundation
import LoopbackServer
import RecordOperations
import TestSupport
import Testing

@Suite(.enabled(if: CloudKitFixture.hasKeys), .timeLimit(.minutes(10)))
struct CloudKitSignatureTests {
  /// The program openssl; nil if it is not installed.
  private static let openssl = ["/usr/bin/openssl", "/usr/local/bin/openssl"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  @Test(.enabled(if: openssl != nil))
  func `Y4: openssl verifies the signature of a request`() async throws {
    let openssl = try #require(Self.openssl)
    let folder = try TemporaryFolder()
    let key = try CloudKitServerKey(id: "k", pem: CloudKitFixture.privateKey)
    let body = Data(#"{"users":[]}"#.utf8)
    let path = "/database/1/iCloud.com.example/development/public/records/query"
    let moment = Date(timeIntervalSince1970: 1_453_760_143)
    let headers = try key.headers(for: body, to: path, at: moment)
    #expect(headers["X-Apple-CloudKit-Request-KeyID"] == "k")
    #expect(headers["X-Apple-CloudKit-Request-ISO8601Date"] == "2016-01-25T22:15:43Z")
    let signature = try #require(
      headers["X-Apple-CloudKit-Request-SignatureV1"].flatMap { Data(base64Encoded: $0) })
    try signature.write(to: folder["signature"])
    try Data(CloudKitFixture.publicKey.utf8).write(to: folder["public.pem"])
    try body.write(to: folder["body"])
    let script = """
      hash=$('\(openssl)' dgst -sha256 -binary body | '\(openssl)' base64 -A)
      printf '%s:%s:%s' 2016-01-25T22:15:43Z "$hash" \(path) > message
      '\(openssl)' dgst -sha256 -verify public.pem -signature signature message
      """
    let program = try TestProgram("/bin/sh", ["-c", script], in: folder.url.path).start()
    #expect(await program.end() == 0)
    // The signature belongs to this body.
    try Data("{}".utf8).write(to: folder["body"])
    let other = try TestProgram("/bin/sh", ["-c", script], in: folder.url.path).start()
    #expect(await other.end() != 0)
  }

  @Test func `Y4: each request has its own signature`() async throws {
    let clock = Lock(Date())
    let fixture = try CloudKitFixture.public(now: { clock.withLock { $0 } })
    fixture.server.now = { clock.withLock { $0 } }
    #expect(try await fixture.database.accountStatus() == .available)
    // Beyond the 10 minutes for which a signature is valid.
    clock.withLock { $0 += 3_600 }
    let saved = try await SaveRecords([book("1")], in: fixture.database).run().get()
    #expect(saved.first?.tag != nil)
  }

  /// The first request is on its way for an hour.
  @Test func `Y4: a request whose signature expired on the way is signed and sent again`()
    async throws
  {
    let clock = Lock(Date())
    let fixture = try CloudKitFixture.public(now: { clock.withLock { $0 } })
    fixture.server.now = { clock.withLock { $0 } }
    fixture.server.inject { request in
      if request.number == 1 { clock.withLock { $0 += 3_600 } }
      return nil
    }
    let retries = RetryPolicy(attempts: 2)
    let saved = try await SaveRecords([book("1")], in: fixture.database, retries: retries)
      .run().get()
    #expect(saved.first?.tag != nil)
    #expect(fixture.requests(to: "records/modify").count == 2)
  }

  @Test(arguments: [-3_600.0, 3_600])
  func `Y4: a wrong clock of this machine is reported with the server's Date`(
    error: Double
  ) async throws {
    let start = Date(timeIntervalSince1970: 1_800_000_000)
    let fixture = try CloudKitFixture.public(now: { start + error })
    fixture.server.now = { start }
    let failure = await #expect(throws: RecordError.self) {
      try await fixture.database.query(RecordQuery("Book"), after: nil, atMost: 1)
    }
    let text = failure?.description ?? ""
    #expect(text.contains("The clock of this machine is wrong"), "\(text)")
    #expect(text.contains("the server's Date is 2027-01-15T08:00:00Z"), "\(text)")
    #expect(failure?.isRetriable == false)
    #expect(try await fixture.database.accountStatus() == .restricted)
  }

  @Test func `Y2: a key that the server does not know is reported with its ID`() async throws {
    let server = try FakeCloudKit(serverKeys: ["other": CloudKitFixture.publicKey])
    let key = try CloudKitServerKey(id: "mine", pem: CloudKitFixture.privateKey)
    let fixture = CloudKitFixture(
      server: server, as: .serverKey(key), .public, CloudKitOptions(), now: { Date() })
    let failure = await #expect(throws: RecordError.self) {
      try await fixture.database.lookup([RecordID("Book", "1")], keys: nil)
    }
    let text = failure?.description ?? ""
    #expect(text.contains("Check that the key mine is registered"), "\(text)")
  }

  @Test(
    arguments: [
      ("", "contains no private key"), ("no key", "contains no private key"),
      (CloudKitFixture.publicKey, "contains no private key"),
      (Self.otherCurve, "not on the curve P-256"),
    ])
  func `Y4: a text without a usable private key is an error`(pem: String, problem: String) {
    let error = #expect(throws: CloudKitKeyError.self) { try CloudKitServerKey(id: "k", pem: pem) }
    #expect(error?.description.contains(problem) == true, "\(error as Any)")
  }

  @Test(arguments: ["", "a b", "ä"])
  func `Y4: an ID of a key that no header can have is an error`(id: String) {
    let error = #expect(throws: CloudKitKeyError.self) {
      try CloudKitServerKey(id: id, pem: CloudKitFixture.privateKey)
    }
    #expect(error?.description.contains("is no ID") == true)
  }

  /// A key on the curve P-384.
  private static let otherCurve = """
    -----BEGIN EC PRIVATE KEY-----
    MIGkAgEBBDDhhuSm3j2LBWV8hyd00d1D26ZzU6ZWTxWEJ1Awg81iMoHIe+gYSgwC
    4l5512rwAeSgBwYFK4EEACKhZANiAASAhGL4WcL6NDugdEQbIM4HCmzzLnvHzt1Z
    2ljUzDOO2KWvnNrG/sCwYcRS6N0Cb2JBq0MP938AvdZX4K6myvFK2hnJpjUUOIUg
    8AjvjU4rTuThAvf0efCtA2hKWdTwnjk=
    -----END EC PRIVATE KEY-----
    """

  @Test func `Y1: a server key has no private database, and a public one no zones`() async throws {
    let fixture = try CloudKitFixture.public()
    let key = try CloudKitServerKey(
      id: CloudKitFixture.keyID, pem: CloudKitFixture.privateKey)
    let database = CloudKitRecordDatabase(
      CloudKitFixture.container, .production, .private, as: .serverKey(key),
      fixture.database.options)
    let failure = await #expect(throws: RecordError.self) {
      try await database.query(RecordQuery("Book"), after: nil, atMost: 1)
    }
    #expect(failure?.description.contains("a server-to-server key has no private database") == true)
    let zone = await #expect(throws: RecordError.self) { try await fixture.database.createZone() }
    #expect(zone?.description.contains("the public database has only the default zone") == true)
    // Nothing was sent.
    #expect(fixture.server.requests.isEmpty)
  }

  @Test(arguments: [
    "<html>Log in to the network</html>", "", "[1,2]", "{}", #"{"userRecordName":"#,
  ])
  func `a response that is not CloudKit's shows no account`(body: String) async throws {
    let server = try LoopbackServer(LoopbackResponse(body))
    let key = try CloudKitServerKey(
      id: CloudKitFixture.keyID, pem: CloudKitFixture.privateKey)
    let database = CloudKitRecordDatabase(
      CloudKitFixture.container, .production, as: .serverKey(key),
      CloudKitOptions(host: server.url("")))
    #expect(try await database.accountStatus() == .temporarilyUnavailable)
  }
}
