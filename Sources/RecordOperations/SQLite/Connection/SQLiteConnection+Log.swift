internal import CSQLite

// A transaction goes to the log of the database first, whatever its size. The log keeps that size, also if the transaction
// is rolled back. It can be cut only when everything that is committed in it was copied to the file. On a full disk that
// fails if the file has to grow for it, so the log is copied before a large transaction begins.
extension SQLiteConnection {
  /// How large SQLite lets a log become before it copies it to the file, in bytes: 1,000 pages.
  package static let ordinaryLogSize = 1_000 * 4_096

  /// Copies the committed part of the log to the file, as far as connections that read allow it, so that the next
  /// transaction writes the log from its beginning.
  func copyLog() {
    guard SQLiteFile(file).logSize > 0 else { return }
    checkpoint("PASSIVE")
  }

  /// Cuts a log that has become large, unless another connection is reading or writing; does not wait for one.
  func cutLog() {
    guard SQLiteFile(file).logSize > Self.ordinaryLogSize else { return }
    checkpoint("TRUNCATE")
  }

  private func checkpoint(_ mode: String) {
    guard !isInTransaction else { return }
    uninterrupted {
      // If it fails, SQLite tries again with the next transaction, and when the last connection is closed.
      withoutWaiting { try? run("PRAGMA wal_checkpoint(\(mode))") }
    }
  }
}
