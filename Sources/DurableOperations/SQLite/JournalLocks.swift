internal import CompositeOperations
internal import SystemSupport

/// The locks in the file of a journal by which processes see which owners of runs live.
///
/// An owner has a lock of one byte, at an offset that no contents reach. The lock belongs to an open file, so it
/// depends on no path, no second file, no user and no clock, and ends with the process, however that ends.
///
/// A process has one descriptor for each file. It is not closed while the file has a name: closing any descriptor
/// of a file ends the locks by which SQLite protects the file in this process.
final class JournalLocks: Sendable {
  private static let all = Lock<[FileStatus.Identity: JournalLocks]>([:])
  /// The offset of the lock of an owner with the number 0. SQLite uses bytes near 2³⁰.
  private static let firstByte: Int64 = 1 << 62

  private let file: FileDescriptor
  /// The owners of this process, which its descriptor does not see. After a rollback, two owners can have the
  /// same number until the first one is freed.
  private let own = Lock<[Int64: Int]>([:])

  private init(_ file: FileDescriptor) { self.file = file }

  deinit { try? file.close() }

  /// Returns the locks of the file that has a path now.
  static func locks(ofFileAt path: String) throws(SystemError) -> JournalLocks {
    let identity = try FileStatus(ofFile: path).identity
    let result: Result<JournalLocks, SystemError> = all.withLock { all in
      forgetDeleted(&all)
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

  /// Forgets the files that have no name any more, which no process can open again. They are closed when no store
  /// uses them.
  private static func forgetDeleted(_ all: inout [FileStatus.Identity: JournalLocks]) {
    for (identity, locks) in all where locks.isDeletedAndUnused { all[identity] = nil }
  }

  private var isDeletedAndUnused: Bool {
    own.withLock(\.isEmpty) && (try? file.status.hardLinkCount) == 0
  }

  /// Takes the lock of an owner of this process.
  ///
  /// - Parameter number: A number that no other owner has.
  func acquire(_ number: Int64) throws(SystemError) {
    // A number is known as one of this process before another store of the process can see its lock.
    own.withLock { $0[number, default: 0] += 1 }
    do { try file.lock(byte: Self.firstByte + number) } catch {
      forget(number)
      throw error
    }
  }

  func release(_ number: Int64) { forget(number) }

  private func forget(_ number: Int64) {
    own.withLock { own in
      own[number, default: 1] -= 1
      if own[number] != 0 { return }
      own[number] = nil
      try? file.unlock(byte: Self.firstByte + number)
    }
  }

  /// Returns whether an owner lives.
  ///
  /// - Throws: The error of the system, such as on a file system without these locks. The owner may live.
  func isHeld(_ number: Int64) throws(SystemError) -> Bool {
    if own.withLock({ $0[number] != nil }) { return true }
    return try file.isLockedByOthers(byte: Self.firstByte + number)
  }
}
