import PostgresOperations
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct PostgresAddressTests {
  private func connect(_ address: String) async -> PostgresError? {
    await onNewThread {
      failure { _ = try PostgresConnection(to: address, timeout: .seconds(5)) }
    }
  }

  @Test(arguments: [
    "postgresql://user:s3cret@/db?host=/nowhere",
    "postgres://user:s3cret@127.0.0.1:1/db",
    "postgresql://user@127.0.0.1:1/db?password=s3cret&sslmode=disable",
    "postgresql://user:s3%63ret@127.0.0.1:1/db",
    "postgresql://user:a@s3cret@127.0.0.1:1/db",
    "postgresql://user:a/s3cret@127.0.0.1:1/db",
    "postgresql://user:a:s3cret@127.0.0.1:1,127.0.0.1:2/db",
    "postgresql//user:s3cret@host/db",
    "user:s3cret@host/db",
    "postgresql://user:s3cret@host/db?nothing=1",
    "postgresql://user:s3cret%@host/db",
    "host=/nowhere password=s3cret user=u",
    "host=/nowhere PassWord = 'a \\' s3cret' user=u",
    "password='s3cret",
    "host=/nowhere password=s3cret nothing",
    "host=/nowhere sslpassword=s3cret",
    "host=/nowhere passwd=s3cret",
    "PASS=s3cret HOST=/nowhere",
    "postgresql://user@host/db?passphrase=s3cret",
  ])
  func `no message contains a password`(_ address: String) async {
    let error = await connect(address)
    #expect(error?.kind == .notConnected)
    #expect(error?.description.contains("s3") == false)
    #expect(error?.description.contains("cret") == false)
    #expect(error?.description.hasPrefix("cannot connect to ") == true)
    #expect(error?.description.contains("***") == true)
  }

  @Test func `an address without a password is part of the message`() async {
    for address in [
      "postgresql://user@127.0.0.1:1/db?application_name=a@b", "host=127.0.0.1 port=1 dbname=x",
    ] {
      let error = await connect(address)
      #expect(error?.description.hasPrefix("cannot connect to \(address): ") == true)
      #expect(error?.description.contains("start the server") == true)
      #expect(error?.isTransient == true)
    }
  }

  @Test func `an invalid address is an error that does not pass`() async {
    for address in ["nonsense", "postgresql://h/d?nothing=1", "host=/x\0y"] {
      let error = await connect(address)
      #expect(error?.kind == .notConnected)
      #expect(error?.description.contains("the address is invalid") == true)
      #expect(error?.isTransient == false)
    }
  }

  @Test(.enabled(if: PrivateServer.missingServer == nil))
  func `a missing database and a missing role have their codes`() async throws {
    try await PrivateServer.shared.start()
    let address = PrivateServer.shared.address
    let database = await connect(address.replacing("/postgres?", with: "/missing?"))
    #expect(database?.code == "3D000")
    #expect(database?.kind == .notConnected)
    #expect(database?.description.contains("createdb") == true)
    #expect(database?.isTransient == false)
    let role = await connect(address.replacing("//postgres@", with: "//missing@"))
    #expect(role?.code == "28000")
    #expect(role?.description.contains("role \"missing\" does not exist") == true)
    #expect(role?.description.contains("whether the role exists") == true)
  }

  @Test(.enabled(if: PrivateServer.missingServer == nil))
  func `a wrong or missing password is an error that does not contain it`() async throws {
    let server = PrivateServer.shared
    try await server.start()
    try await server.query("CREATE ROLE secured LOGIN PASSWORD 'right'")
    let address = server.address.replacing("//postgres@", with: "//secured:PASSWORD@")
    #expect(await connect(address.replacing("PASSWORD", with: "right")) == nil)
    let wrong = await connect(address.replacing("PASSWORD", with: "wr0ng"))
    #expect(wrong?.code == "28P01")
    #expect(wrong?.kind == .notConnected)
    #expect(wrong?.description.contains("secured:***@") == true)
    #expect(wrong?.description.contains("wr0ng") == false)
    #expect(wrong?.description.contains("check the user and the password") == true)
    let missing = await connect(address.replacing(":PASSWORD", with: ""))
    #expect(missing?.description.contains("add the password") == true)
  }

  @Test(.enabled(if: PrivateServer.missingServer == nil))
  func `a connection beyond the limit of the server has advice, and may succeed later`()
    async throws
  {
    let server = PrivateServer.shared
    try await server.start()
    try await server.query("CREATE ROLE limited LOGIN CONNECTION LIMIT 0")
    let error = await connect(server.address.replacing("//postgres@", with: "//limited@"))
    #expect(error?.code == "53300")
    #expect(error?.description.contains("max_connections") == true)
    #expect(error?.isTransient == true)
  }
}
