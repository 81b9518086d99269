internal import DurableOperations
internal import Foundation
internal import PostgresOperations

/// A new queue on the server that tests share.
struct TestQueue: Sendable {
  let server: PrivateServer
  /// The address of its database.
  let address: String
  let name: String

  /// - Parameter server: Nil for the server that tests share.
  init(on server: PrivateServer = .shared) async throws {
    self.server = server
    address = try await server.freshDatabase()
    name = "default"
    try await server.query("select absurd.create_queue('default')", at: address)
  }

  func store(
    lease: Duration = .seconds(30), at address: String? = nil,
    options: RunStoreOptions = RunStoreOptions(
      valueLimit: 1 << 20, parkingThreshold: .milliseconds(5))
  ) -> RunStore {
    .postgres(address ?? self.address, queue: name, lease: lease, options: options)
  }

  @discardableResult func query(_ sql: String) async throws -> String {
    try await server.query(sql, at: address)
  }
}
