internal import CompositeOperations
internal import DurableOperations
internal import PostgresOperations
internal import Testing

@Suite(.timeLimit(.minutes(10))) struct AddressTests {
  @Test func `an unknown scheme is an error that says what is expected`() {
    let error = #expect(throws: RunStoreError.self) { try RunStore(at: "mysql://host/flows") }
    #expect(error?.reason == .invalidAddress)
    #expect(
      error?.description.contains("expected the path of an SQLite file, or postgresql://") == true)
  }

  @Test(arguments: [
    "host=127.0.0.1 port=1 password=s3cret user=x", " dbname = flows", "service=app",
    "keepalives_idle=5 host=a password=s3cret", "HOST=a PassWd=s3cret",
  ])
  func `an address with keywords is one of PostgreSQL, and shows no password`(address: String)
    throws
  {
    let store = try RunStore(at: address)
    #expect(store.backend.options.valueLimit == 1 << 20)
    #expect(store.backend.location.contains(address.prefix(8)))
    #expect(!store.backend.location.contains("s3cret"))
  }

  @Test(arguments: ["./host=a", "hosts=a", "flows.sqlite", "a host=b", "=a"])
  func `other texts are paths`(path: String) throws {
    let store = try RunStore(at: path)
    #expect(store.backend.options.valueLimit != 1 << 20)
  }

  @Test(.enabled(if: PrivateServer.whatIsMissing == nil))
  func `an address chooses the store`() async throws {
    let queue = try await TestQueue()
    let addresses = [
      queue.address, queue.address.replacing("postgresql:", with: "postgres:"),
      queue.address.replacing("postgresql:", with: "PostgreSQL:"),
    ]
    for (number, address) in addresses.enumerated() {
      let store = try RunStore(at: address)
      let flow = DurableOperation(Leaf(name: "a"), named: "r\(number)", in: store)
      #expect(await flow.run().result == "a", "\(address)")
      #expect(store.backend.options.valueLimit == 1 << 20)
    }
  }
}
