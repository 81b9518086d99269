import PostgresOperations
import TestSupport
import Testing

@Suite struct PostgresAddressTests {
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
    let address = try await PrivateServer.shared.freshDatabase(hasSchema: false)
    let database = await connect(address.replacing("/test_", with: "/missing_"))
    #expect(database?.code == "3D000")
    #expect(database?.kind == .notConnected)
    #expect(database?.description.contains("createdb") == true)
    #expect(database?.isTransient == false)
    let role = await connect(address.replacing("//postgres@", with: "//missing@"))
    #expect(role?.code == "28000")
    #expect(role?.description.contains("role \"missing\" does not exist") == true)
    #expect(role?.description.contains("whether the role exists") == true)
  }
}
