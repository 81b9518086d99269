internal import CompositeOperations
internal import Foundation
internal import SQLiteSupport
internal import SystemSupport

/// The file of a journal, as this process has found it first.
final class JournalFile: Sendable {
  /// The absolute path, without symbolic links at its end.
  let path: String
  private let known = Lock<JournalLocks?>(nil)
  /// The error of all locks in a test of a file system without them.
  private let lockError: SystemError?

  /// - Parameter path: Relative to the working folder. That and the target of a link may be others at the next
  ///   request.
  init(_ path: String, lockError: SystemError? = nil) {
    self.lockError = lockError
    let absolute: String
    if path.hasPrefix("/") {
      absolute = path
    } else {
      let names = path.split(separator: "/").drop { $0 == "." }
      absolute = FileManager.default.currentDirectoryPath.path(of: names.joined(separator: "/"))
    }
    self.path = (try? FileSystem.followed(absolute).path) ?? absolute
  }

  /// Checks the file before a connection opens it.
  ///
  /// - Throws: A ``RunStoreError`` if the file is on another machine, or has several names.
  func checkBeforeOpening() throws(RunStoreError) {
    if let type = SQLiteFile(path).networkType {
      throw RunStoreError(
        .networkFileSystem,
        "\(path) is on a network file system (\(type)), where locks do not work reliably; use a file on a local disk"
      )
    }
    // The names of a folder are its own and those of its folders. The opening refuses it.
    guard let status = try? FileStatus(ofFile: path), status.kind == .file else { return }
    let count = status.hardLinkCount
    if count <= 1 { return }
    throw RunStoreError(
      .notAccessible,
      "\(path) is one of \(count) names of a file (hard links); SQLite keeps the last changes beside the name by which "
        + "they were made, so they would be lost under another one; remove the other names, or copy the file"
    )
  }

  /// Checks that a new connection has opened the file that the other connections use.
  ///
  /// - Throws: A ``RunStoreError`` if another file has its path now, or if the file has no locks.
  func check(_ connection: SQLiteConnection) throws(RunStoreError) {
    if !connection.hasMoved {
      let locks = try found
      let isSame = known.withLock { known in
        if known == nil { known = locks }
        return known === locks
      }
      if isSame { return }
    }
    throw RunStoreError(
      .notAccessible,
      "\(path) was moved, removed or replaced since this program has opened it; start the program again"
    )
  }

  /// The locks of the file that the connections use.
  var locks: JournalLocks {
    get throws(RunStoreError) {
      if let known = known.withLock({ $0 }) { return known }
      return try found
    }
  }

  /// The locks of the file that has the path now.
  private var found: JournalLocks {
    get throws(RunStoreError) {
      do { return try JournalLocks.locks(ofFileAt: path) } catch {
        throw RunStoreError(error, locking: path)
      }
    }
  }

  /// Takes the lock of an owner of this process. The caller releases it.
  func acquire(_ number: Int64) throws(RunStoreError) -> JournalLocks {
    let locks = try locks
    do throws(SystemError) {
      if let lockError { throw lockError }
      try locks.acquire(number)
    } catch {
      throw RunStoreError(error, locking: path)
    }
    return locks
  }

  /// Returns the owners of running runs that have ended, in their order.
  func endedOwners(_ connection: SQLiteConnection) throws -> [Int64] {
    try connection.owners.filter { state(ofOwner: $0) == .hasEnded }.sorted()
  }

  /// Returns whether an owner lives.
  func state(ofOwner number: Int64) -> OwnerState {
    do throws(RunStoreError) {
      let locks = try locks
      do throws(SystemError) {
        if let lockError { throw lockError }
        return try locks.isHeld(number) ? .lives : .hasEnded
      } catch {
        throw RunStoreError(error, locking: path)
      }
    } catch {
      return .unknown(error.description)
    }
  }
}
