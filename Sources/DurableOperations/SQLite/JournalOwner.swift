internal import Foundation
internal import SQLiteSupport
internal import SystemSupport

/// This process as an owner of runs: a number in the journal, and a lock that is free when the
/// process has ended.
final class JournalOwner: Sendable {
  let number: Int64
  private let locks: JournalLocks

  /// Registers this process.
  ///
  /// - Parameter now: Milliseconds since 1970.
  /// - Throws: A `SQLiteError`, or a ``RunStoreError`` if the lock cannot be made.
  init(in connection: SQLiteConnection, of file: JournalFile, now: Int64) throws {
    try connection.execute(
      "INSERT INTO run_process (program, pid, began) VALUES (?1, ?2, ?3)",
      [
        .text(SystemProcess.programName),
        .integer(Int64(ProcessInfo.processInfo.processIdentifier)), .integer(now),
      ])
    number = connection.lastInsertedRowID
    try connection.markAsUsed()
    locks = try file.acquire(number)
  }

  deinit { locks.release(number) }
}

extension RunStoreError {
  /// The error of the locks in a file.
  init(_ error: SystemError, locking file: String) {
    let isUnsupported = [.invalidArgument, .noLocks, .notSupported].contains(error)
    self.init(
      error.isDenied ? .notAccessible : isUnsupported ? .noLocks : .other,
      isUnsupported
        ? "\(file) is on a file system without locks of open files (\(error)), so no process would know whether "
          + "another one lives; use a file on a local disk"
        : "\(file) cannot be locked: \(error); \(error.advice)")
  }
}
