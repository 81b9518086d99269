import DurableOperations
import Foundation

#if canImport(PostgresOperations)
  import PostgresOperations
#endif

/// A queue on a PostgreSQL server, in which the tests of this target keep their runs in place of
/// SQLite if `COMPOSITE_TEST_STORE` has the address of a database.
///
/// Tests of PostgresOperations run those of this target that way.
struct TestServer: Sendable {
  private let address: String
  private let queue: String

  static var address: String? { ProcessInfo.processInfo.environment["COMPOSITE_TEST_STORE"] }

  /// Whether the tests use SQLite.
  static var isAbsent: Bool { address == nil }

  /// - Parameter file: Stores with the same file have the same queue; nil for a new queue.
  /// - Returns: Nil if the tests use SQLite.
  init?(forFile file: String?) {
    guard let address = Self.address else { return nil }
    self.address = address
    let name = file ?? UUID().uuidString
    queue =
      "t"
      + String(
        name.utf8.reduce(14_695_981_039_346_656_037 as UInt64) { hash, byte in
          (hash ^ UInt64(byte)) &* 1_099_511_628_211
        }, radix: 36)
    execute("select absurd.create_queue('\(queue)')")
  }

  func store(_ options: RunStoreOptions) -> RunStore {
    #if canImport(PostgresOperations)
      return .postgres(address, queue: queue, options: options)
    #else
      fatalError("COMPOSITE_TEST_STORE is set, but this build has no PostgresOperations")
    #endif
  }

  /// Lets a time pass for all rows of the queue.
  func pass(_ duration: Duration) {
    let interval = "interval '\(duration / .milliseconds(1)) ms'"
    execute(
      """
      with attempts as (update absurd."r_\(queue)" set available_at = available_at - \(interval),
          completed_at = completed_at - \(interval)),
        waits as (update absurd."w_\(queue)" set timeout_at = timeout_at - \(interval)),
        events as (update absurd."e_\(queue)" set emitted_at = emitted_at - \(interval))
      update absurd."t_\(queue)" set enqueue_at = enqueue_at - \(interval),
        cancelled_at = cancelled_at - \(interval)
      """)
  }

  private func execute(_ sql: String) {
    #if canImport(PostgresOperations)
      do {
        let connection = try PostgresConnection(to: address, timeout: .seconds(20))
        _ = try connection.rows(PostgresStatement("test", sql), [])
      } catch {
        fatalError("\(error)")
      }
    #endif
  }
}
