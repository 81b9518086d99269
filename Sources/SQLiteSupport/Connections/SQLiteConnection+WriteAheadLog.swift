// SQLite writes a transaction to the write-ahead log (WAL) first, whatever its size. The WAL file
// keeps its size, even after a rollback. It can be truncated only after its committed part has been
// copied to the database file. On a full disk that fails if the file has to grow, so a checkpoint
// comes before a large transaction.
extension SQLiteConnection {
  /// The size from which SQLite copies the WAL to the file, in bytes: 1,000 pages.
  package static let autocheckpointSize = autocheckpointPages * 4_096
  /// The size with ``withRareCheckpoints(_:)``, in bytes: 32,000 pages.
  package static let rareAutocheckpointSize = 32 * autocheckpointSize
  private static let autocheckpointPages = 1_000

  /// Runs a body whose transaction is one of many large ones. SQLite then copies the WAL to the file
  /// only from 32,000 pages on, because it copies a page once for all of the transactions that have
  /// changed it.
  ///
  /// - Throws: A ``SQLiteError``; the error of the body.
  package func withRareCheckpoints<Result>(_ body: () throws -> Result) throws -> Result {
    // Later transactions need the default, even if this one is cancelled: SQLite applies the setting
    // when the statement is prepared.
    defer { ignoringCancellation { try? setAutocheckpoint(Self.autocheckpointPages) } }
    try setAutocheckpoint(32 * Self.autocheckpointPages)
    return try body()
  }

  private func setAutocheckpoint(_ pages: Int) throws {
    _ = try fetchOne("PRAGMA wal_autocheckpoint = \(pages)") { _ in }
  }

  /// Copies the committed part of the WAL to the file, as far as reading connections allow it, so
  /// that the next transaction overwrites the WAL from its beginning.
  package func checkpointWAL() {
    guard SQLiteFile(file).walSize > 0 else { return }
    checkpoint("PASSIVE")
  }

  /// Truncates a large WAL, unless another connection is reading or writing. Does not wait for one.
  package func truncateWAL() {
    guard SQLiteFile(file).walSize > Self.autocheckpointSize else { return }
    checkpoint("TRUNCATE")
  }

  private func checkpoint(_ mode: String) {
    guard !isInTransaction else { return }
    ignoringCancellation {
      // If it fails, SQLite tries again with the next transaction, and when the last connection
      // closes.
      withoutWaiting { try? execute("PRAGMA wal_checkpoint(\(mode))") }
    }
  }
}
