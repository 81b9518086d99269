import CompositeOperations
import Foundation
import RecordOperations

#if canImport(PostgresOperations)
  import PostgresOperations
  import PostgresTestSupport
#endif

/// The remote database of a ``MirrorModel``.
protocol MirrorServer: Sendable {
  /// The database whose connections are cut.
  var database: any RecordDatabase { get }
  /// The same database, with connections that are not cut.
  var observer: any RecordDatabase { get }

  /// Removes the records of deletions, so that older tokens expire.
  func forgetDeletions() async throws

  /// Sends a request, and cuts a connection meanwhile.
  func cutting<Reply: Sendable>(
    _ cut: ConnectionCut, _ send: () async throws -> Reply
  ) async throws -> Reply

  /// Stops cutting, and waits until the server has ended the transactions of lost connections.
  func settle() async throws
}

/// A loss of a connection.
enum ConnectionCut: Equatable {
  /// The connection is closed instead of a reply of the server, after some other replies.
  case reply(after: Int)
  /// The server ends its processes for the connections, a while after the request was sent.
  case backend(afterMicroseconds: Int)
}

extension DatabaseKind {
  /// The kinds of remote databases of mirrors.
  static var remotes: [DatabaseKind] { complete.filter { $0 != .sqlite } }

  func makeMirrorServer(limits: RecordLimits) throws -> any MirrorServer {
    switch self {
    case .memory: return MemoryServer(base: MemoryRecordDatabase(limits: limits))
    case .sqlite, .cloudKit: break
    case .postgres:
      #if canImport(PostgresOperations)
        if let address = Self.address { return try PostgresServer(at: address, limits: limits) }
      #endif
    }
    throw RecordError(.unsupported("no mirror of \(self)"))
  }
}

/// A database without connections.
private struct MemoryServer: MirrorServer {
  let base: MemoryRecordDatabase

  var database: any RecordDatabase { base }
  var observer: any RecordDatabase { base }
  func forgetDeletions() { base.forgetDeletions() }
  func settle() {}

  func cutting<Reply: Sendable>(
    _ cut: ConnectionCut, _ send: () async throws -> Reply
  ) async throws -> Reply { try await send() }
}

#if canImport(PostgresOperations)
  /// A schema of a PostgreSQL server, with a socket in front of it that cuts connections.
  private final class PostgresServer: MirrorServer {
    let database: any RecordDatabase
    let observer: any RecordDatabase
    private let proxy: CuttingProxy
    private let schema: String
    private let pool: PostgresPool

    /// - Parameter address: The address of a server that has its socket in a folder.
    init(at address: String, limits: RecordLimits) throws {
      guard let host = address.range(of: "host=") else {
        throw RecordError(.invalid("\(address) has no host"))
      }
      proxy = try CuttingProxy(in: String(address[host.upperBound...].prefix { $0 != "&" }))
      schema = "test_" + UUID().uuidString.lowercased()
      // The name of the schema is also the name of the connections to cut.
      database = PostgresRecordDatabase(
        address + "&port=5433&application_name=\(schema)",
        PostgresRecordOptions(schema: schema, connections: 2, limits: limits))
      observer = PostgresRecordDatabase(
        address, PostgresRecordOptions(schema: schema, connections: 1))
      pool = PostgresPool(to: address, capacity: 1)
    }

    func forgetDeletions() async throws {
      let states = "\"\(schema)\".record_states"
      let exists = try await count("SELECT count(to_regclass('\(states)'))") > 0
      if !exists { return }
      let forgotten = "UPDATE \"\(schema)\".record_database SET forgotten = pg_current_xact_id()"
      try await pool.run { connection in
        try connection.transaction {
          for sql in [forgotten, "DELETE FROM \(states) WHERE deleted"] {
            _ = try connection.rows(PostgresStatement("forget deletions", sql, isReused: false))
          }
        }
      }
    }

    func cutting<Reply: Sendable>(
      _ cut: ConnectionCut, _ send: () async throws -> Reply
    ) async throws -> Reply {
      switch cut {
      case .reply(let count):
        proxy.cut(after: count)
        return try await send()
      case .backend(let delay):
        async let ended = count(
          """
          SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity, \
          (SELECT pg_sleep(\(delay) / 1e6)) AS delay WHERE application_name = '\(schema)'
          """)
        let reply: Result<Reply, any Error>
        do { reply = .success(try await send()) } catch { reply = .failure(error) }
        _ = try await ended
        return try reply.get()
      }
    }

    func settle() async throws {
      proxy.stopCutting()
      let open = """
        SELECT count(*) FROM pg_stat_activity
        WHERE application_name = '\(schema)' AND backend_xid IS NOT NULL
        """
      while try await count(open) > 0 { await Task.yield() }
    }

    private func count(_ sql: String) async throws -> Int64 {
      try await pool.run { connection in
        try connection.rows(PostgresStatement("count", sql, isReused: false)).integer(0, 0) ?? 0
      }
    }
  }
#endif
