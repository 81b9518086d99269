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
