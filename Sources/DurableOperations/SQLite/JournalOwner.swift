internal import CompositeOperations
internal import Foundation
internal import SQLiteSupport
internal import SystemSupport

/// This process as an owner of runs: a number in the journal, and a lock that is free when the
/// process has ended.
final class JournalOwner: Sendable {
  let number: Int64
  private let lock: FileLock

  /// Registers this process.
  ///
  /// - Parameters:
  ///   - file: The path of the journal.
  ///   - now: Milliseconds since 1970.
  /// - Throws: A `SQLiteError`, or a ``RunStoreError`` if the lock cannot be made.
  init(in connection: SQLiteConnection, of file: String, now: Int64) throws {
    let folder = Self.folder(of: file)
    do { try OpenFolder.working.makeFolder(FileName(folder)) } catch {
      if error != .fileExists { throw Self.error(error, folder) }
    }
    while true {
      try connection.execute(
        "INSERT INTO owner (program, pid, began) VALUES (?1, ?2, ?3)",
        [
          .text(SystemProcess.programName),
          .integer(Int64(ProcessInfo.processInfo.processIdentifier)),
          .integer(now),
        ])
      let number = connection.lastInsertedRowID
      do {
        // The number is new, so nothing else can hold the lock.
        if let lock = try FileLock.acquire(Self.path(of: number, file), creating: true) {
          self.number = number
          self.lock = lock
          return
        }
      } catch { throw Self.error(error, folder) }
    }
  }

  deinit { lock.removeFile() }

  /// Finds an owner that has ended, and keeps others from finding it at the same time.
  ///
  /// - Returns: The lock of the owner, to be kept while its runs are made ready; nil if it lives.
  static func lockIfDead(_ number: Int64, of file: String) -> FileLock? {
    do { return try FileLock.acquire(path(of: number, file), creating: false) } catch {
      // Without the file, the owner has ended in order.
      guard error.isMissing else { return nil }
      return try? FileLock.acquire(path(of: number, file), creating: true)
    }
  }

  /// Whether an owner has ended. Its runs are still running until another process takes them over.
  static func hasEnded(_ number: Int64, of file: String) -> Bool {
    !FileLock.isHeld(path(of: number, file))
  }

  private static func folder(of file: String) -> String { file + "-owners" }
  private static func path(of number: Int64, _ file: String) -> String {
    "\(folder(of: file))/\(number)"
  }

  private static func error(_ error: SystemError, _ path: String) -> RunStoreError {
    RunStoreError(
      error.isDenied ? .notAccessible : .other, "\(path) cannot be used: \(error); \(error.advice)")
  }
}
