internal import CompositeOperations
internal import SystemSupport

/// The locks in the file of a journal by which processes see which owners of runs live.
///
/// An owner has a lock of one byte, at an offset that no contents reach. The lock belongs to an open file, so it
/// depends on no path, no second file, no user and no clock, and ends with the process, however that ends.
///
/// A process has one descriptor for each file. It is never closed while the file has a name: closing any descriptor
/// of a file ends the locks by which SQLite protects the file in this process.
final class JournalLocks: Sendable {
  private static let all = Lock<[FileStatus.Identity: JournalLocks]>([:])
  /// The offset of the lock of an owner with the number 0. SQLite uses bytes near 2³⁰.
  private static let firstByte: Int64 = 1 << 62

  private let file: FileDescriptor
  /// The owners of this process. Its descriptor does not see its own locks.
  private let own = Lock<Set<Int64>>([])

  private init(_ file: FileDescriptor) { self.file = file }

  /// Returns the locks of the file that has a path now.
  static func locks(ofFileAt path: String) throws(SystemError) -> JournalLocks {
    let identity = try FileStatus(ofFile: path).identity
    let result: Result<JournalLocks, SystemError> = all.withLock { all in
      closeDeleted(&all)
      if let locks = all[identity] { return .success(locks) }
      return Result { () throws(SystemError) in try opened(path, &all) }
    }
    return try result.get()
  }

  private static func opened(
    _ path: String, _ all: inout [FileStatus.Identity: JournalLocks]
  ) throws(SystemError) -> JournalLocks {
    let file = try FileDescriptor.open(path, .readOnly)
    // Another file may have got the path. If its locks are known, both descriptors stay open.
    let identity = try file.status.identity
    if let locks = all[identity] { return locks }
    let locks = JournalLocks(file)
    all[identity] = locks
    return locks
  }

  /// Closes the files that have no name any more, which no process can open again.
  private static func closeDeleted(_ all: inout [FileStatus.Identity: JournalLocks]) {
    for (identity, locks) in all where locks.isDeletedAndUnused {
      all[identity] = nil
      try? locks.file.close()
    }
  }

  private var isDeletedAndUnused: Bool {
    own.withLock(\.isEmpty) && (try? file.status.hardLinkCount) == 0
  }

  /// Takes the lock of an owner of this process.
  ///
  /// - Parameter number: A number that no other owner has.
  func acquire(_ number: Int64) throws(SystemError) {
    // A number is known as one of this process before its lock can be seen by another store of the process.
    _ = own.withLock { $0.insert(number) }
    do { try file.lock(byte: Self.firstByte + number) } catch {
      _ = own.withLock { $0.remove(number) }
      throw error
    }
  }

  func release(_ number: Int64) {
    try? file.unlock(byte: Self.firstByte + number)
    _ = own.withLock { $0.remove(number) }
  }

  /// Returns whether an owner lives.
  ///
  /// - Throws: The error of the system, such as on a file system without these locks. The owner may live.
  func isHeld(_ number: Int64) throws(SystemError) -> Bool {
    if own.withLock({ $0.contains(number) }) { return true }
    return try file.isLockedByOthers(byte: Self.firstByte + number)
  }
}
