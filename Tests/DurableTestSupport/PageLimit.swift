internal import CompositeOperations
package import DurableOperations
package import SQLiteSupport

/// Lets a database grow no further, by SQLite's own limit.
package final class PageLimit: Sendable {
  private let isOn = Lock(false)

  package init() {}

  package func set(isOn value: Bool) { isOn.withLock { $0 = value } }

  package func apply(_ moment: CommitMoment, _ connection: SQLiteConnection) throws {
    guard moment == .afterCommit else { return }
    // A limit below the size of the file means that size.
    let most = isOn.withLock { $0 } ? 100 : 1_000_000
    _ = try connection.fetchOne("PRAGMA max_page_count = \(most)") { $0.integer(at: 0) }
  }
}
