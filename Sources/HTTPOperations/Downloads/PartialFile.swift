internal import CompositeOperations
internal import Foundation
internal import SystemSupport

/// A partially downloaded file, with the record beside it.
///
/// `NAME.partial` has the bytes, and `NAME.partial.json` identifies the whole. The former is locked
/// while it is written, against other downloads to the same destination in this process and in
/// others. Only a complete file gets the name. A destination that is a device or a pipe is written
/// directly.
///
/// Only the user of the process can have written either file, or they are not resumed: the folder
/// may belong to others, who could choose the beginning of the file.
///
/// The caller makes one call at a time, and finally calls ``finish()`` or ``abandon()``, once.
struct PartialFile: Sendable {
  /// The destination.
  let path: String
  /// Whether bytes are written directly to the destination.
  let isDirect: Bool
  private let file: FileDescriptor
  /// The file to replace, whose owner and permissions the new one gets; nil if there is none.
  private let old: FileStatus?
  /// The hash that the file must have; nil for any.
  private let hash: DownloadHash?

  private let partialPath: String
  private var recordPath: String { partialPath + ".json" }
  /// The path that bytes are written to.
  private var writtenPath: String { isDirect ? path : partialPath }

  /// Opens and locks the file.
  ///
  /// - Parameter hash: The hash that the complete file must have; nil for any.
  init(at path: String, hash: DownloadHash? = nil) throws(FileError) {
    self.path = path
    self.hash = hash
    partialPath = PartialFileName.path(of: path)
    let (name, folder) = (FileName(path), OpenFolder.working)
    let kind = try? folder.status(of: name, followingLink: true).kind
    if kind == .folder {
      throw FileError(
        path, "cannot be written", because: "it is a folder. Use the path of a file in that folder."
      )
    }
    isDirect = kind == .other
    if isDirect {
      old = nil
      file = try Self.openedDirectly(path)
      return
    }
    // Not the status of the target of a symbolic link, which stays.
    old = (try? folder.status(of: name)).flatMap { $0.kind == .file ? $0 : nil }
    file = try Self.locked(partialPath, for: path)
  }

  private static func openedDirectly(_ path: String) throws(FileError) -> FileDescriptor {
    do { return try .open(path, .writeOnly, .nonBlocking) } catch {
      if error != .noSuchAddressOrDevice { throw FileError(path, "cannot be written", error) }
      throw FileError(
        path, "cannot be written", error,
        because: "no process has it open for reading. Start its reader first.")
    }
  }

  private static func locked(
    _ partial: String, for path: String
  ) throws(FileError) -> FileDescriptor {
    while true {
      guard let (file, isNew) = try opened(partial) else { continue }
      do throws(FileError) {
        let isLocked = try FileError.at(partial, "cannot be locked") { () throws(SystemError) in
          try file.tryLock()
        }
        if !isLocked {
          throw FileError(
            path, "is already being downloaded",
            because: "wait for that download, or use another path.")
        }
        if isNamed(partial, file) {
          // Some file systems give every file to the same user.
          if try isPrivate(file, partial) || isNew {
            try? file.setPermissions(.ownerReadWrite)
            return file
          }
          try FileError.at(partial, "is not the private file of a download and cannot be removed") {
            () throws(SystemError) in
            try OpenFolder.working.removeFile(FileName(partial))
          }
        }
        // Otherwise another download has finished and renamed it since it was opened.
      } catch {
        release(file)
        throw error
      }
      release(file)
    }
  }

  /// Opens the existing partial file, or creates one.
  ///
  /// - Returns: Nil if the file has been removed meanwhile.
  private static func opened(
    _ partial: String
  ) throws(FileError) -> (file: FileDescriptor, isNew: Bool)? {
    do throws(SystemError) {
      let file = try FileDescriptor.open(
        partial, .readWrite, .exclusiveCreate, permissions: .ownerReadWrite)
      return (file, true)
    } catch {
      if error != .fileExists { throw FileError(partial, "cannot be written", error) }
    }
    do throws(SystemError) {
      return (try .open(partial, .readWrite, [.noFollow, .nonBlocking]), false)
    } catch {
      if error.isMissing { return nil }
      if error == .tooManySymbolicLinkLevels {
        throw FileError(
          partial, "cannot be written", error,
          because: "it is a symbolic link. Remove it, or use another path.")
      }
      if error.isLackOfFiles { throw FileError(partial, "cannot be written", error) }
      throw FileError(
        partial, "cannot be written", error, because: "\(error). Remove it, or use another path.")
    }
  }

  private static func isPrivate(
    _ file: FileDescriptor, _ partial: String
  ) throws(FileError) -> Bool {
    let status = try FileError.at(partial, "cannot be examined") { () throws(SystemError) in
      try file.status
    }
    if status.kind == .file { return status.isPrivate }
    throw FileError(
      partial, "cannot be written",
      because: "it is a folder or a device. Remove it, or use another path.")
  }

  private static func isNamed(_ path: String, _ file: FileDescriptor) -> Bool {
    let named = try? OpenFolder.working.status(of: FileName(path))
    return named != nil && named?.identity == (try? file.status.identity)
  }

  /// The plan for the existing part.
  func plan(for resource: DownloadRecord.Resource) -> DownloadPlan {
    guard !isDirect, let status = try? file.status, status.isPrivate, let record = record() else {
      return .whole
    }
    return DownloadPlan(offset: status.size, record: record, for: resource)
  }

  private func record() -> DownloadRecord? {
    guard let file = try? FileDescriptor.open(recordPath, .readOnly, [.noFollow, .nonBlocking])
    else { return nil }
    defer { try? file.close() }
    guard let status = try? file.status, status.isPrivate, status.size <= 1 << 20 else {
      return nil
    }
    var bytes = [UInt8](repeating: 0, count: status.size)
    guard (try? file.read(into: &bytes)) == bytes.count else { return nil }
    return try? JSONDecoder().decode(DownloadRecord.self, from: Data(bytes))
  }

  /// Whether the bytes so far have the expected hash, if there is one.
  var hasExpectedHash: Bool { hash?.isMatched ?? true }

  /// Adds a block of the existing part to the hash: the bytes that are on disk, whichever process
  /// has written them.
  ///
  /// - Parameter range: Where the block is. Blocks are added in order.
  func addToHash(_ range: Range<Int>) throws(FileError) {
    guard let hash else { return }
    var bytes = [UInt8](repeating: 0, count: range.count)
    let count = try FileError.at(partialPath, "cannot be read") { () throws(SystemError) in
      var span = bytes.mutableSpan
      return try unsafe span.withUnsafeMutableBytes { bytes throws(SystemError) in
        try unsafe file.read(into: bytes, at: range.lowerBound)
      }
    }
    hash.append(bytes.span.extracting(..<count))
  }

  /// Continues to write at an offset.
  func seek(to offset: Int) throws(FileError) {
    if isDirect { return }
    try FileError.at(writtenPath, "cannot be written") { () throws(SystemError) in
      try file.seek(to: offset)
    }
  }

  /// Discards the existing part.
  ///
  /// - Parameter record: The record of the bytes that follow; nil if they cannot be resumed.
  func restart(_ record: DownloadRecord?) throws(FileError) {
    hash?.restart()
    if isDirect { return }
    // Otherwise the record belongs to the file that has replaced this one, and `finish` fails.
    let isNamed = Self.isNamed(partialPath, file)
    // The record is removed first and written last: it must never describe other bytes.
    if isNamed { remove(recordPath) }
    try FileError.at(writtenPath, "cannot be emptied") { () throws(SystemError) in
      try file.truncate(to: 0)
    }
    try seek(to: 0)
    guard let record, isNamed else { return }
    do {
      let file = try FileDescriptor.open(
        recordPath, .writeOnly, .exclusiveCreate, permissions: .ownerReadWrite)
      defer { try? file.close() }
      try unsafe JSONEncoder().encode(record).withUnsafeBytes { try unsafe file.write($0) }
    } catch {
      // Without it, the download cannot be resumed, which is no error.
      remove(recordPath)
    }
  }

  /// - Parameter isStopped: Called before bytes are written to a pipe or a device, and repeatedly
  ///   while that is full. If it returns true, the rest is dropped.
  /// - Throws: ``FileError``, or `CancellationError` if it was stopped.
  func write(_ bytes: [UInt8], unless isStopped: () -> Bool) throws {
    do {
      try unsafe bytes.withUnsafeBytes { bytes in
        guard isDirect else { return try unsafe file.write(bytes) }
        try unsafe file.write(bytes) { if isStopped() { throw CancellationError() } }
      }
    } catch let error as SystemError {
      throw FileError(writtenPath, "cannot be written", error)
    }
    hash?.append(bytes.span)
  }

  /// Gives the file its name, after all of it is on disk.
  ///
  /// - Throws: An error if the file has another hash than the expected one. Then it is removed, so
  ///   that no other download resumes it.
  func finish() throws(FileError) {
    defer { Self.release(file) }
    if let error = hash?.mismatch(ofFile: path, isDirect: isDirect) {
      if !isDirect, Self.isNamed(partialPath, file) {
        remove(recordPath)
        remove(partialPath)
      }
      throw error
    }
    if isDirect { return }
    if !Self.isNamed(partialPath, file) {
      throw FileError(
        partialPath, "is not the file that was written",
        because: "another program has removed or replaced it. Download the file again.")
    }
    if let old {
      try FileError.at(writtenPath, "cannot be given the permissions of the old file") {
        () throws(SystemError) in
        // A downloaded file must not run as the owner of the file that it replaces.
        try file.copyRights(from: old, masking: 0o777)
      }
    } else if let permissions = permissionsOfNewFiles() {
      try? file.setPermissions(permissions)
    }
    try FileError.at(writtenPath, "cannot be written") { () throws(SystemError) in
      try file.synchronize()
    }
    try FileError.at(path, "cannot be moved into place") { () throws(SystemError) in
      try FileSystem.rename(partialPath, to: path)
    }
    remove(recordPath)
    // The rename is on disk when the folder is synchronized, which is impossible for an unreadable
    // folder.
    let name = path.splitPath.folder
    guard let folder = try? OpenFolder(name, followingLink: true) else { return }
    defer { folder.close() }
    try FileError.at(name, "cannot be written") { () throws(SystemError) in
      try folder.descriptor.synchronize()
    }
  }

  /// The permissions that the system gives to new files in the folder; nil if none can be created.
  private func permissionsOfNewFiles() -> FilePermissions? {
    let path = partialPath + ".new"
    remove(path)
    guard let file = try? FileDescriptor.open(path, .writeOnly, .exclusiveCreate) else {
      return nil
    }
    defer {
      try? file.close()
      remove(path)
    }
    return try? file.status.permissions
  }

  /// Closes the incomplete file. Removes it if it cannot be resumed.
  func abandon() {
    if !isDirect, FileSystem.isMissing(recordPath), Self.isNamed(partialPath, file) {
      remove(partialPath)
    }
    Self.release(file)
  }

  /// Unlocks and closes the file. Closing alone would not unlock it while another thread starts a
  /// program, which has a copy of every descriptor until it begins to run.
  private static func release(_ file: FileDescriptor) {
    file.unlock()
    try? file.close()
  }

  private func remove(_ path: String) { try? OpenFolder.working.removeFile(FileName(path)) }
}

extension FilePermissions {
  fileprivate static let ownerReadWrite: FilePermissions = 0o600
}

extension FileStatus {
  /// Whether only this user, and the root user, can have written the file.
  var isPrivate: Bool {
    kind == .file && owner == geteuid() && hardLinkCount == 1 && permissions.isDisjoint(with: 0o022)
  }
}
